import Acoustics
import Detection
import Messages
import Presets
import Settings

extension Verb {
  /// The device of `pinna device new laptop`: the microphones in this computer's lid, where its firmware says they are, or
  /// in a line of --spacing.
  static func laptop(_ arguments: Arguments) throws -> NewDevice {
    let count = try arguments.integer("--microphones", in: 2...8)
    let spacing = try arguments.millimetres("--spacing", in: 5...200)
    let size = try arguments.size()
    let card = try laptopCard(arguments["--card"])
    let array: LidArray
    let microphones: [Microphone]
    do {
      array = try lidArray(of: card, microphones: count, spacing: spacing)
      microphones =
        try size.map { (size) throws(LidArrayFault) in try array.on(lid: size / 1000) }
        ?? array.microphones
    } catch let fault as LidArrayFault {
      throw Failure(.failed, "card \(card.index), \(card.id): \(fault)")
    }
    var remarks: [String] = []
    if !array.isMeasured {
      remarks += [
        "From its firmware: only the differences of these positions are certain. Makers count offsets from different",
        "points, and in different directions: the first microphone may be at the right, and the last at the left.",
      ]
      if let panel = array.panel { remarks.append("The firmware places them in the \(panel) panel.") }
      if !array.saysCapsules {
        remarks.append("It does not say of all what capsules they are; those count as omnidirectional.")
      }
    }
    remarks.append(
      size == nil
        ? "They are modelled in free space, without the lid; --size WIDTH,HEIGHT,DEPTH adds it as a thin box."
        : "The lid is a thin box; how far the microphones are from its edge, 5 mm here, is not known.")
    let template = LaptopTemplate(
      microphones, lid: size, cards: [card.id] + (card.name == card.id ? [] : [card.name]),
      device: card.digitalDevice ?? 0, isMeasured: array.isMeasured, remarks: remarks)
    let source = array.isMeasured ? "in a line of this spacing" : "from what its firmware says"
    let lid = size == nil ? "without the lid (--size adds it)" : "on its lid"
    return NewDevice(
      text: template.text, advice: "\(source), \(lid); look at the file", isLaptop: true)
  }

  private static func lidArray(of card: SoundCard, microphones count: Int?, spacing: Double?)
    throws -> LidArray
  {
    guard let spacing else {
      guard count == nil else {
        throw Failure(
          .usage, "--microphones of a laptop needs --spacing; add --spacing MM, or leave both out")
      }
      return try LidArray(card.digitalMicrophones)
    }
    let described = card.digitalMicrophones.count
    guard let number = count ?? (described > 1 ? described : nil) else {
      throw Failure(.usage, "the firmware does not say how many microphones there are; add --microphones N")
    }
    return LidArray(microphones: number, spacing: spacing / 1000)
  }

  /// The card with a laptop's own microphones.
  /// - Parameter word: its number or ID; nil for the only one.
  private static func laptopCard(_ word: String?) throws(Failure) -> SoundCard {
    let cards = SoundCard.list(in: systemFolders)
    if let word {
      guard let card = cards.first(where: { String($0.index) == word || $0.id == word }) else {
        throw Failure(
          .failed,
          "no sound card \(word.quoted) captures sound; "
            + (cards.isEmpty
              ? "no card of this computer does" : "use one of: \(cards.map(\.id).joined(separator: ", "))")
        )
      }
      return card
    }
    let laptops = cards.filter(\.isLaptop)
    guard let card = laptops.first else {
      throw Failure(
        .failed,
        "no sound card of this computer has digital microphones of a laptop; name its card with --card, or describe the array with pinna device new line"
      )
    }
    guard laptops.count == 1 else {
      throw Failure(
        .failed,
        "several sound cards have digital microphones: \(laptops.map(\.id).joined(separator: ", ")); choose one with --card"
      )
    }
    return card
  }
}
