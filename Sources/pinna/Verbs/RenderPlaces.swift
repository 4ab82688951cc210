import Acoustics
import Presets
import Rendering
import Settings

extension Verb {
  /// - Throws: if a part is a talker by a name that nobody has.
  private static func refuseStrangers(_ parts: [FeedPart], _ seats: [Seat]) throws(Failure) {
    for part in parts {
      guard case .one(let name) = part, Int(name) == nil, !seats.contains(where: { $0.name == name })
      else { continue }
      throw Failure(
        .failed,
        "nobody has the seat \(name.quoted)\(didYouMean(name, among: seats.map(\.name))); give a name of seats, or a "
          + "talker's number")
    }
  }

  /// Where those are whom a part may name, in the device frame. A number is that of the list of a take's talkers.
  /// - Parameters:
  ///   - parts: of the feeds, other than those as they were recorded.
  ///   - setting: of the first.
  static func places(
    of parts: [FeedPart], _ setting: Setting, _ arguments: Arguments, _ take: TakeMicrophones?,
    _ talkers: TalkerFiles?
  ) throws -> [String: Direction] {
    guard let take, !arguments.has("--preset"), !arguments.has("--device") else {
      try refuseStrangers(parts, setting.seats)
      return setting.places
    }
    // Looks are from what main was when it was recorded.
    var main = try take.setting(in: .standard) { $0 }
    if let talkers { main.seats = talkers.seats }
    try refuseStrangers(parts, main.seats)
    let numbers = parts.compactMap { part in
      if case .one(let name) = part, talkers == nil, Int(name) != nil { name } else { nil }
    }
    if !numbers.isEmpty {
      let numbered = try TalkerFiles(arguments.operands[0]).numbered
      if let other = numbers.first(where: { number in !numbered.contains { $0.name == number } }) {
        throw Failure(
          .failed,
          "there is no talker \(other) in \(arguments.operands[0]), which has \(numbered.count); to list them, run: "
            + "pinna talkers \(arguments.operands[0])")
      }
      main.seats += numbered
    }
    return main.places
  }
}
