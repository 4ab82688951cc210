import Acoustics

/// A sound card with the devices that it may be.
public struct DetectedCard: Hashable, Sendable {
  public let card: SoundCard
  /// Empty for an unknown card.
  public let matches: [DeviceMatch]

  public init(_ card: SoundCard, among devices: [Device]) {
    self.card = card
    matches = DeviceMatch.matches(of: card, among: devices)
  }

  /// All cards that can capture, by index.
  public static func list(in folders: SystemFolders, among devices: [Device]) -> [DetectedCard] {
    SoundCard.list(in: folders).map { DetectedCard($0, among: devices) }
  }
}

extension [DetectedCard] {
  /// The only device that fits and can be used as it is: what `run --device auto` takes. Candidates do not count: they
  /// fit by their number of channels alone.
  /// - Throws: what was found instead, if there is none or several.
  public func onlyDevice() throws(NoSingleDevice) -> Device {
    let matches = flatMap(\.matches)
    let usable = matches.filter(\.isUsable)
    guard usable.count == 1 else { throw NoSingleDevice(cards: self) }
    return usable[0].device
  }
}

/// `run --device auto` found no device, or several.
public struct NoSingleDevice: Error, Hashable, CustomStringConvertible {
  public let cards: [DetectedCard]

  public var description: String {
    let matches = cards.flatMap(\.matches)
    func names(_ list: [DeviceMatch]) -> String { list.map(\.device.name).joined(separator: ", ") }
    let usable = matches.filter(\.isUsable)
    if let first = usable.first?.device.name, usable.allSatisfy({ $0.device.name == first }) {
      return
        "\(first) is plugged in \(usable.count) times; start it with --device \(first), and connect the ports of one of them"
    }
    if !usable.isEmpty { return "several devices fit: \(names(usable)); choose one with --device NAME" }
    if let blocked = matches.first(where: { $0.obstacle != nil }) {
      return "\(blocked.device.name) is plugged in, but \(blocked.obstacle!)"
    }
    if !matches.isEmpty {
      return
        "no device is detected; \(names(matches)) may be what is plugged in: choose one with --device NAME"
    }
    guard !cards.isEmpty else {
      return
        "no sound card that captures is plugged in; plug in the array, or choose a device with --device NAME"
    }
    return
      "no known device is plugged in, only \(cards.map(\.card.name).joined(separator: ", ")); describe it with: pinna device new"
  }
}
