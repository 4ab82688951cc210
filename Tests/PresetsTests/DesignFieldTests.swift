import Acoustics
import Foundation
import Presets
import TestSupport
import Testing

@Suite("Design fields")
struct DesignFieldTests {
  @Test("design fields are documented with defaults and allowed values, in order")
  func documentation() throws {
    let text = try String(contentsOfFile: repositoryFolder + "/docs/devices.md", encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains(".") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }.filter { row in DesignField.all.contains { row[0] == "`\($0.name)`" } }
    #expect(rows.map { $0[0] } == DesignField.all.map { "`\($0.name)`" })
    for (field, row) in zip(DesignField.all, rows) {
      #expect(row[1] == Self.defaults(of: field), "\(field.name)")
      #expect(row[2] == field.allowed, "\(field.name)")
      #expect(row.count == 4)
    }
  }

  /// Such as "1500 Hz (free 1700, box 1300)".
  static func defaults(of field: DesignField) -> String {
    func text(_ parameters: DesignParameters) -> String { String(format: "%g", field.value(in: parameters)) }
    let standard = text(DesignParameters())
    let bodies: [(String, Body)] = [("free", .free), ("box", .box(size: [0.1, 0.1, 0.1]))]
    let others = bodies.map { ($0, text(DesignParameters(body: $1))) }.filter { $1 != standard }
    return standard + (field.unit.isEmpty ? "" : " \(field.unit)")
      + (others.isEmpty ? "" : " (" + others.map { "\($0) \($1)" }.joined(separator: ", ") + ")")
  }
}
