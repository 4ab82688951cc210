import Acoustics
import Presets
import Rendering
import Settings

extension Verb {
  /// - Throws: if a feed, other than one as it was recorded, plays a talker by a name that nobody has.
  private static func refuseStrangers(_ feeds: [RenderTake.Feed], _ seats: [Seat]) throws(Failure) {
    for feed in feeds where !feed.isAsRecorded {
      guard case .one(let name) = feed.setting.main.part, Int(name) == nil,
        !seats.contains(where: { $0.name == name })
      else { continue }
      throw Failure(
        .failed,
        "nobody has the seat \(name.quoted)\(didYouMean(name, among: seats.map(\.name))); give a name of seats, or a "
          + "talker's number")
    }
  }

  /// Where those are whom a part may name, in the device frame. A number is that of the list of a take's talkers.
  static func places(
    of feeds: [RenderTake.Feed], _ arguments: Arguments, _ take: TakeMicrophones?, _ talkers: TalkerFiles?
  ) throws -> [String: Direction] {
    guard let take, !arguments.has("--preset"), !arguments.has("--device") else {
      try refuseStrangers(feeds, feeds[0].setting.seats)
      return feeds[0].setting.places
    }
    // Looks are from what main was when it was recorded.
    var main = try take.setting(in: .standard) { $0 }
    if let talkers { main.seats = talkers.seats }
    try refuseStrangers(feeds, main.seats)
    let numbers = feeds.filter { !$0.isAsRecorded }.compactMap { feed in
      if case .one(let name) = feed.setting.main.part, talkers == nil, Int(name) != nil { name } else { nil }
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
