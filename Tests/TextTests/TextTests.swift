import Foundation
import Testing
import Text

/// The functions on text, compared with Foundation's.
@Suite("Text") struct TextTests {
  @Test(
    "numbers are formatted as Foundation does",
    arguments: [
      "%g", "%.0f", "%.1f", "%+.2f", "%7.1f", "%.3g", "%.2g %%", "%+g dB", "+%.0f dB", "ein Winkel von %.0f°",
    ])
  func numbers(format: String) {
    let powers = (-12...12).map { pow(10, Double($0)) }
    let numbers = [0, 0.05, 0.15, 0.25, 0.5, 1.5, 2.5, 1 / 3.0, 999.95, 1e300, .infinity, .nan] + powers
    for number in numbers + numbers.map(-) {
      #expect(String.formatted(format, [number]) == NSString(format: format as NSString, number) as String)
    }
  }

  @Test("whole numbers and several arguments are formatted as Foundation does")
  func arguments() {
    for number in [0, 7, 59, 123, 4711, -5] {
      #expect(
        String.formatted("%d:%02d:%02d.%d|%11d %5d", [number, number, number, number, number, number])
          == NSString(format: "%d:%02d:%02d.%d|%11d %5d", number, number, number, number, number, number)
          as String
      )
    }
    for number: UInt32 in [0, 0xE4, 0x2026, 0x1F399] {
      #expect(String.formatted("%04X", [number]) == NSString(format: "%04X", number) as String)
    }
    #expect(String.formatted("plain", []) == "plain")
    #expect(String.formatted("", []) == "")
    #expect(String.formatted("%.300f", [0.5]).count == 302)
  }

  @Test(
    "paths are taken apart as Foundation does",
    arguments: [
      "/", "ab", "ab/", "a/b", "/a", "/a/", "/a/b", "/a/b/", "a//b", "~/x.yaml",
      "/run/user/1000/pinna", "./a", "../a", "a/.", "/usr/ä/é.json", "a b/c d", "/a/b.c/d.e",
    ])
  func paths(path: String) {
    #expect(path.lastPathComponent == (path as NSString).lastPathComponent)
    #expect(path.deletingLastPathComponent == (path as NSString).deletingLastPathComponent)
  }

  /// Where Foundation's answers are empty, or do not come: it crashes.
  @Test("repeated slashes are one, and short names have no folder")
  func shortest() {
    for (path, folder, name) in [
      ("//", "/", "/"), ("//a", "/", "a"), ("/a//b//", "/a", "b"), ("a//b", "a", "b"), ("", "", ""),
      ("a", "", "a"), ("a/", "", "a"),
    ] {
      #expect(path.deletingLastPathComponent == folder && path.lastPathComponent == name, "\(path)")
    }
  }

  @Test("blanks, line breaks and controls are Foundation's, of all of Unicode")
  func scalars() {
    var differences: [String] = []
    for value: UInt32 in 0...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      if scalar.isBlank != CharacterSet.whitespaces.contains(scalar)
        || scalar.isNewline != CharacterSet.newlines.contains(scalar)
        // Foundation takes variation selectors for controls.
        || value < 0xE0100 && scalar.isControl != CharacterSet.controlCharacters.contains(scalar)
      {
        differences.append(String(value, radix: 16))
      }
    }
    #expect(differences == [])
  }

  @Test(
    "text is trimmed as Foundation does",
    arguments: [
      "", " ", "a", " a ", "\t a b\n", "\r\na\r\n", "\u{A0}a\u{3000}", "a\u{301} ", " \u{301}a", "\n \n",
    ])
  func trimming(text: String) {
    #expect(text.trimmed() == text.trimmingCharacters(in: .whitespaces))
    #expect(text.trimmed(lines: true) == text.trimmingCharacters(in: .whitespacesAndNewlines))
    #expect(text.dropFirst().trimmed() == text.dropFirst().trimmingCharacters(in: .whitespaces))
    #expect(
      "[\(text)]".trimmed { "[]".unicodeScalars.contains($0) }
        == "[\(text)]".trimmingCharacters(in: ["[", "]"]))
  }
}
