import Acoustics
import AudioFiles
import Numerics

/// Reads the table of directions that belongs to a WAV measurement. Each line holds azimuth and elevation in degrees,
/// with the convention of SOFA files: azimuth 0 is in front of the device (+z), azimuth 90 is to the device's own left
/// (+x, on the right of somebody facing it), and elevation 90 is up (+y). Columns are separated by commas, semicolons,
/// tabs or spaces. A # starts a comment. A header line "azimuth, elevation" is optional.
package enum DirectionTable {
  private static let sizeLimit = 4 << 20

  /// - Returns: unit vectors (forward, left, up), in file order.
  /// - Throws: `DesignError` with the file and the line of the first malformed entry.
  package static func read(path: String) throws(DesignError) -> [SIMD3<Double>] {
    let file = try InputFile.measurement(path, kind: "a table of directions", sizeLimit: sizeLimit)
    let bytes: [UInt8]
    do throws(AudioFileError) { bytes = try file.bytes() } catch { throw DesignError(error.description) }
    var text = String(decoding: bytes, as: UTF8.self)
    // A byte order mark, which spreadsheets write.
    if text.hasPrefix("\u{FEFF}") { text.removeFirst() }
    var directions: [SIMD3<Double>] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let content = line.prefix { $0 != "#" }
      let words = content.split { $0 == "," || $0 == ";" || $0.isWhitespace }
      if words.isEmpty { continue }
      if directions.isEmpty, words.map({ $0.lowercased() }) == ["azimuth", "elevation"] { continue }
      let numbers = words.compactMap { Double($0) }
      guard words.count == 2, numbers.count == 2, abs(numbers[0]) <= 360, abs(numbers[1]) <= 90 else {
        throw DesignError(
          "\(path):\(index + 1): is not a direction; write azimuth (-360 to 360) and elevation (-90 to 90) in degrees, "
            + "for example \"90, 0\"")
      }
      directions.append(sphericalUnit(azimuth: .degrees(numbers[0]), elevation: .degrees(numbers[1])))
    }
    guard !directions.isEmpty else {
      throw DesignError(
        "\(path) contains no directions; write azimuth and elevation in degrees, one direction per line")
    }
    return directions
  }
}
