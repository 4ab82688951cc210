import Acoustics
import AudioFiles
import Numerics
import Text

/// Reads the table of directions that belongs to a WAV measurement. Each line holds azimuth and elevation in degrees,
/// with the convention of SOFA files: azimuth 0 is in front of the device (+z), azimuth 90 is to the device's own left
/// (+x, on the right of somebody facing it), and elevation 90 is up (+y). A third column, the distance, is not used.
///
/// Columns are separated by commas, semicolons, tabs or spaces; where there is a semicolon, a comma is a decimal one.
/// Words may be in quotes. A # starts a comment. A header line may name the columns, in any order and among others,
/// and the unit of the angles, `rad`.
package struct DirectionTable {
  private static let sizeLimit = 4 << 20

  private let path: String
  /// The places of the columns, and how many there are: as a header says, or two.
  private var columns = (azimuth: 0, elevation: 1, count: 2)
  private var isInRadians = false
  /// Whether the first line says that angles are in degrees.
  private var namesDegrees = false

  /// - Returns: unit vectors (forward, left, up), in file order.
  /// - Throws: `DesignError` with the file and the line of the first malformed entry.
  package static func read(path: String) throws(DesignError) -> [SIMD3<Double>] {
    let file = try InputFile.measurement(path, kind: "a table of directions", sizeLimit: sizeLimit)
    let bytes: [UInt8]
    do throws(AudioFileError) { bytes = try file.bytes() } catch { throw DesignError(error.description) }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw DesignError("\(path) is not plain text in UTF-8; save the table as CSV in UTF-8")
    }
    var table = DirectionTable(path: path)
    return try table.directions(text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...])
  }

  private init(path: String) { self.path = path }

  private mutating func directions(_ text: Substring) throws(DesignError) -> [SIMD3<Double>] {
    var angles: [SIMD2<Double>] = []
    var isFirst = true
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = Self.words(line.prefix { $0 != "#" })
      if words.isEmpty { continue }
      defer { isFirst = false }
      if isFirst, try readHeader(words, line: index + 1) { continue }
      angles.append(try direction(words, line: index + 1))
    }
    guard !angles.isEmpty else {
      throw DesignError(
        "\(path) contains no directions; write azimuth and elevation in degrees, one direction per line")
    }
    try refuseUnnamedRadians(angles)
    return angles.map { angles in
      isInRadians
        ? sphericalUnit(azimuth: Angle(radians: angles.x), elevation: Angle(radians: angles.y))
        : sphericalUnit(azimuth: .degrees(angles.x), elevation: .degrees(angles.y))
    }
  }

  private static func words(_ line: Substring) -> [Substring] {
    let hasSemicolons = line.contains(";")
    let separator = ([";", ",", "\t"] as [Character]).first { line.contains($0) }
    let words = line.split { character in
      separator.map { $0 == character } ?? character.isWhitespace
    }
    return words.map { word in
      let word = word.drop { $0.isWhitespace || "\"'".contains($0) }
      let end = word.lastIndex { !($0.isWhitespace || "\"'".contains($0)) }
      let bare = end.map { word[...$0] } ?? ""
      return hasSemicolons ? bare.replacing(",", with: ".") : bare
    }.filter { !$0.isEmpty }
  }

  /// Takes the columns from a line that names them.
  /// - Returns: whether it is one.
  private mutating func readHeader(_ words: [Substring], line: Int) throws(DesignError) -> Bool {
    guard words.allSatisfy({ $0.decimal == nil }) else { return false }
    let names = words.map { $0.lowercased() }
    // Units stand in brackets behind the name, also after a space.
    let titles = names.filter { !$0.hasPrefix("(") && !$0.hasPrefix("[") }
    guard let azimuth = titles.firstIndex(where: { $0.hasPrefix("az") || $0.contains("azim") }),
      let elevation = titles.firstIndex(where: { $0.hasPrefix("el") || $0.contains("elev") })
    else {
      throw DesignError(
        "\(path):\(line): has neither numbers nor the names of the columns; write \"azimuth, elevation\", or "
          + "directions in degrees such as \"90, 0\"")
    }
    columns = (azimuth, elevation, titles.count)
    let units = names.flatMap { $0.split { !$0.isLetter && $0 != "°" } }
    isInRadians = units.contains { ["rad", "radian", "radians"].contains($0) }
    namesDegrees = units.contains { ["deg", "degree", "degrees", "grad", "°"].contains($0) }
    return true
  }

  private func direction(_ words: [Substring], line: Int) throws(DesignError) -> SIMD2<Double> {
    let limits: (azimuth: Double, elevation: Double) =
      isInRadians ? (2 * .pi + 0.001, .pi / 2 + 0.001) : (360, 90)
    // A distance may follow, also where the header does not name it.
    guard words.count == columns.count || (words.count == 3 && columns.count == 2) else {
      let count = words.count == 1 ? "1 column" : "\(words.count) columns"
      throw DesignError(
        "\(path):\(line): has \(count); write azimuth and elevation, or name the columns in the first line")
    }
    guard columns.count > 2 || words.allSatisfy({ $0.decimal != nil }),
      let azimuth = words[columns.azimuth].decimal, abs(azimuth) <= limits.azimuth,
      let elevation = words[columns.elevation].decimal, abs(elevation) <= limits.elevation
    else {
      throw DesignError(
        "\(path):\(line): is not a direction; write "
          + (isInRadians
            ? "azimuth (-2π to 2π) and elevation (-π/2 to π/2) in radians, as the first line says"
            : "azimuth (-360 to 360) and elevation (-90 to 90) in degrees, for example \"90, 0\""))
    }
    return [azimuth, elevation]
  }

  /// Directions all within 2π and π/2 that are not whole numbers are radians: in degrees they would all lie ahead.
  private func refuseUnnamedRadians(_ angles: [SIMD2<Double>]) throws(DesignError) {
    guard !isInRadians, !namesDegrees, angles.count > 3,
      angles.allSatisfy({ abs($0.x) < 2 * .pi + 0.001 && abs($0.y) < .pi / 2 + 0.001 }),
      angles.contains(where: { abs($0.x) > 1 }),
      angles.contains(where: { $0 != $0.rounded(.toNearestOrEven) })
    else { return }
    throw DesignError(
      "\(path) holds angles that look like radians: none exceeds 2π; name the unit in the first line: "
        + "\"azimuth (deg), elevation (deg)\" or \"azimuth (rad), elevation (rad)\"")
  }
}
