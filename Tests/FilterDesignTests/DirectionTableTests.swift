import Acoustics
import Foundation
import Measurements
import Numerics
import TestSupport
import Testing

/// Tables of directions as programs and spreadsheets write them.
@Suite("Tables of directions") struct DirectionTableTests {
  /// Azimuth and elevation in degrees.
  static let angles: [(Double, Double)] = [
    (0, 0), (90, 0), (-90.5, 30.25), (180, -45), (270, 89.5), (12.5, -7.75),
  ]

  private func read(_ text: String) throws -> [SIMD3<Double>] { try read(Data(text.utf8)) }

  private func read(_ data: Data) throws -> [SIMD3<Double>] {
    let folder = try TemporaryFolder()
    return try DirectionTable.read(path: try folder.write(data, to: "d.csv"))
  }

  private func lines(_ row: (_ azimuth: Double, _ elevation: Double) -> String) -> String {
    Self.angles.map { row($0.0, $0.1) + "\n" }.joined()
  }

  @Test("distances, quotes, headers, separators, decimal commas, line ends and marks change no direction")
  func forms() throws {
    // Unit vectors by their definition: forward, left, up.
    let wanted = Self.angles.map { azimuth, elevation in
      let (a, e) = (azimuth * .pi / 180, elevation * .pi / 180)
      return SIMD3(cos(e) * cos(a), cos(e) * sin(a), sin(e))
    }
    func comma(_ value: Double) -> String { "\(value)".replacing(".", with: ",") }
    let plain = lines { "\($0), \($1)" }
    for text in [
      plain, lines { "\($0), \($1), 1.5" }, lines { "\"\($0)\",\"\($1)\",\"1.5\"" }, lines { "\($0)\t\($1)" },
      lines { "\($0) \($1)" }, lines { "\(comma($0));\(comma($1))" },
      lines { "\(comma($0)); \(comma($1)); 1,5;" },
      "azimuth, elevation, distance\n" + lines { "\($0), \($1), 1.5" },
      "Azimuth;Elevation\n" + lines { "\($0);\($1)" },
      "\"azimuth (deg)\",\"elevation (deg)\"\r\n" + plain.replacing("\n", with: "\r\n"),
      "elevation, azimuth\n" + lines { "\($1), \($0)" },
      "file,r,Azimut [deg],Elevation [deg]\n" + lines { "ir_\($0).wav,1.5,\($0),\($1)" },
      "azimuth elevation radius\n" + lines { "\($0) \($1) 2" }, "\u{FEFF}" + plain, "# by hand\n\n" + plain,
      "azimuth (rad), elevation (rad)\n" + lines { "\($0 * .pi / 180), \($1 * .pi / 180)" },
      "az_rad;el_rad;radius\n" + lines { "\($0 * .pi / 180);\($1 * .pi / 180);1" },
    ] {
      let found = try read(text)
      #expect(found.count == wanted.count, "\(text)")
      for (a, b) in zip(found, wanted) { #expect((a - b).length < 1e-9, "\(text)") }
    }
  }

  @Test(
    "degrees that the first line names are believed, also in German, and a radial distance is no unit",
    arguments: [
      "azimuth (deg), elevation (deg)", "Azimut (Grad), Elevation (Grad)", "azimuth °, elevation °",
    ])
  func degrees(header: String) throws {
    let near = (0..<8).map { "\(Double($0) * 0.5 - 1.75), 0.25" }
    let found = try read(([header] + near).joined(separator: "\n"))
    #expect(abs(atan2(found[0].y, found[0].x) * 180 / .pi + 1.75) < 1e-9)
    let far = try read("azimuth, elevation, radial distance\n90, 0, 1.5\n10, 0, 1.5")
    #expect(abs(far[0].y - 1) < 1e-9)
  }

  @Test("radians without a word are doubted; whole degrees near the front are not")
  func radians() throws {
    let refused = #expect(throws: DesignError.self) {
      try read(lines { "\($0 * .pi / 180), \($1 * .pi / 180)" })
    }
    #expect(refused?.description.contains("look like radians") == true)
    #expect(try read("0, 0\n1, 0\n2, 1\n3, -1\n5, 0\n").count == 5)
    #expect(try read("0, 0\n0.25, 0\n0.5, 0\n0.75, 0.5\n").count == 4)
  }

  @Test("what is no table of plain text, or names other columns, is said")
  func others() throws {
    for (data, words) in [
      (Data([0xFF, 0xFE, 0x30, 0, 0x2C, 0, 0x30, 0]), "not plain text in UTF-8"),
      (Data([0x30, 0x2C, 0xE9, 0x0A]), "not plain text in UTF-8"),
      (Data("theta, phi\n0, 0\n".utf8), "d.csv:1: has neither numbers nor the names"),
      (Data("azimuth, elevation\nazimuth, elevation\n".utf8), "d.csv:2: is not a direction"),
      (Data("id, azimuth, elevation\n1, 20\n".utf8), "d.csv:2: has 2 columns"),
    ] {
      let error = #expect(throws: DesignError.self) { try read(data) }
      #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }
  }
}
