import Acoustics
import Text

/// Who sits where, by which talkers are named.
public struct Seat: Hashable, Sendable {
  public let name: String
  /// From the data source of `main`.
  public let look: Look

  /// The longest name, and the most seats.
  public static let (nameLimit, limit) = (64, 32)
  public static let placeholder = "NAME=AZ[,EL]"

  public init(name: String, look: Look) { (self.name, self.look) = (name, look) }

  /// Reads "anna=40", or "ben=-35,10".
  public init(word: String) throws(Failure) {
    func failure(_ what: String) -> Failure {
      Failure(
        .usage,
        "the seat \(word.printable(limit: 80)) \(what); write it as NAME=AZ or NAME=AZ,EL, such as anna=40")
    }
    guard let sign = word.lastIndex(of: "=") else { throw failure("has no =") }
    let name = String(word[..<sign]).trimmed()
    guard !name.isEmpty, name.utf8.count <= Self.nameLimit,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control && $0 != ";" })
    else { throw failure("has no usable name: 1 to \(Self.nameLimit) bytes of UTF-8, no semicolon") }
    // A part of that name is something else, and lists call a talker without a seat "talker 2".
    let low = name.lowercased()
    guard name.decimal == nil, !FeedPart.words.contains(low), low.wholeMatch(of: /talker [0-9]+/) == nil
    else {
      throw failure("has a name that means something else: a number, whole, talkers, room, or talker 2")
    }
    let angles = word[word.index(after: sign)...].split(separator: ",", omittingEmptySubsequences: false)
      .map { Double(String($0).trimmed()) }
    guard (1...2).contains(angles.count), let azimuth = angles[0], let last = angles[angles.count - 1],
      let look = Look(azimuth: azimuth, elevation: angles.count == 2 ? last : 0)
    else { throw failure("has no usable angles, in degrees from the front, left and up positive") }
    self.init(name: name, look: look)
  }

  /// - Throws: also if two have one name, or there are too many.
  public static func list(_ words: [String]) throws(Failure) -> [Seat] {
    var seats: [Seat] = []
    for word in words {
      let seat = try Seat(word: word)
      guard !seats.contains(where: { $0.name == seat.name }) else {
        throw Failure(.usage, "the seat \(seat.name) is given twice; give each name once")
      }
      seats.append(seat)
    }
    guard seats.count <= limit else {
      throw Failure(.usage, "\(seats.count) seats are too many; give at most \(limit)")
    }
    return seats
  }

  /// "anna=40"
  public var word: String { "\(name)=\(look.word)" }

  /// The angle in degrees within which a seat names a talker, and two directions can be one talker's.
  public static let tolerance = 22.0

  /// By talker, the names of those who sit where somebody is: each seat names whoever is nearest to it. An array without height
  /// finds all talkers at elevation 0, and no seat's elevation counts then.
  public static func names<Talker: Hashable>(_ seats: [Seat], of talkers: [(talker: Talker, look: Look)])
    -> [Talker: String]
  {
    let isFlat = talkers.allSatisfy { $0.look.elevation == 0 }
    let pairs = seats.enumerated().flatMap { n, seat in
      let look = isFlat ? Look(azimuth: seat.look.azimuth)! : seat.look
      return talkers.map { (seat: n, talker: $0.talker, angle: look.angle(to: $0.look)) }
    }
    var (names, taken): ([Talker: String], Set<Int>) = ([:], [])
    for pair in pairs.filter({ $0.angle <= tolerance }).sorted(by: { $0.angle < $1.angle })
    where names[pair.talker] == nil && !taken.contains(pair.seat) {
      names[pair.talker] = seats[pair.seat].name
      taken.insert(pair.seat)
    }
    return names
  }
}
