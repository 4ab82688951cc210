import Acoustics
import Text

/// Which part of the sound a feed plays. Parts add up to the whole.
public enum FeedPart: Hashable, Sendable {
  case whole
  /// All who speak.
  case talkers
  /// What is not of those who speak.
  case room
  /// One who speaks: a number as `pinna talkers` tells it, or the name of a seat.
  case one(String)

  public static let words = ["whole", "talkers", "room"]

  /// - Throws: a `Failure` for what cannot be a name.
  public init(word: String) throws(Failure) {
    switch word.lowercased() {
    case "whole": self = .whole
    case "talkers": self = .talkers
    case "room": self = .room
    default:
      guard (1...64).contains(word.count), word == word.printable else {
        throw Failure(
          .usage,
          "the part \(word.quoted) is not usable; give whole, talkers, room, or a talker's number or name")
      }
      // Control surfaces send whole numbers as floats.
      guard let number = word.decimal else {
        self = .one(word)
        return
      }
      guard let whole = Int(exactly: number), whole > 0 else {
        throw Failure(.usage, "the part \(word.quoted) is no talker; give a whole number from 1, or a name")
      }
      self = .one("\(whole)")
    }
  }

  public var word: String {
    switch self {
    case .whole: "whole"
    case .talkers: "talkers"
    case .room: "room"
    case .one(let name): name
    }
  }
}

/// The azimuths within which a talker counts as one; outside, it belongs to the room. In degrees from the data source's
/// forward, left positive.
public struct FeedFrame: Hashable, Sendable {
  public let azimuth: Double
  public let width: Double

  /// "30,60": an azimuth and a width from 1 to 360.
  /// - Throws: a `Failure` for anything else.
  public init(word: String) throws(Failure) {
    let numbers = word.listed.compactMap { $0.decimal(unit: "degrees") }
    guard numbers.count == 2, word.listed.count == 2, Look.azimuths.contains(numbers[0]),
      (1...360).contains(numbers[1])
    else {
      throw Failure(
        .usage,
        "the frame \(word.quoted) is not usable; give off, or an azimuth and a width in degrees, such as 30,60"
      )
    }
    (azimuth, width) = (numbers[0], numbers[1])
  }

  public var word: String { "\(azimuth.plain),\(width.plain)" }
}
