import Acoustics

/// The directions of a measurement, a line each: azimuth and elevation in degrees, as SOFA files have them. Azimuth 0
/// is what the device's front looks at (+z), 90 its own left (+x), which is the right of somebody who faces it;
/// elevation 90 is up (+y). Commas, semicolons, tabs or spaces between; # begins a comment; a first line with the words
/// azimuth and elevation may say what the columns are.
package enum DirectionTable {
  private static let sizeLimit = 4 << 20

  /// - Returns: unit vectors: forward, left, up.
  package static func read(path: String) throws(DesignError) -> [SIMD3<Double>] {
    let file = try InputFile(path: path, kind: "a table of directions", sizeLimit: sizeLimit)
    var text = String(decoding: try file.bytes(), as: UTF8.self)
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
            + "\"90, 0\"")
      }
      directions.append(sphericalUnit(azimuth: .degrees(numbers[0]), elevation: .degrees(numbers[1])))
    }
    guard !directions.isEmpty else {
      throw DesignError(
        "\(path) has no directions in it; write one to a line, azimuth and elevation in degrees")
    }
    return directions
  }
}
