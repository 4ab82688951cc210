import Foundation
import Testing
import Text

/// What others wrote, made safe to show.
@Suite("Printable text") struct PrintableTests {
  /// All scalars, in pieces of 4096.
  static let scalars: [String] = stride(from: UInt32(0), to: 0x110000, by: 4096).map { start in
    var text = ""
    for value in start..<start + 4096 {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  /// Foundation's sets, which this package's own code does not use.
  static let unwanted = CharacterSet.controlCharacters.union(.newlines)

  private func isClean(_ text: String, except kept: String = "") -> Bool {
    text.unicodeScalars.allSatisfy {
      // Foundation takes variation selectors for controls.
      !Self.unwanted.contains($0) || kept.unicodeScalars.contains($0) || $0.value >= 0xE0100
    }
  }

  @Test("no control character, line break or invisible one of all of Unicode is left")
  func everything() {
    for text in Self.scalars {
      #expect(isClean(text.printable))
      #expect(isClean(text.printableLines, except: "\n\t"))
      #expect(text.printable.printable == text.printable)
    }
  }

  @Test("names that people give stay as they are")
  func names() {
    for name in [
      "Scarlett 18i20", "Mikrofon Küche", "マイク 1", "מיקרופון", "микрофон", "a\u{301}", "🎤 Stage",
      "50 % \"x\" <y>", "",
    ] {
      #expect(name.printable == name && name.printableLines == name && name.printableJSON == name)
      #expect(name.quoted == "\"\(name)\"")
    }
  }

  @Test("escapes of terminals are shown: colours, titles, clipboards, and bytes that begin one alone")
  func escapes() {
    for (raw, shown) in [
      ("ev\u{1b}[31mil", "ev\\u{1b}[31mil"), ("m\u{1b}]0;PWNED\u{7}", "m\\u{1b}]0;PWNED\\u{7}"),
      ("\u{9b}2J", "\\u{9b}2J"), ("a\nwarning: b", "a\\u{a}warning: b"), ("a\rb", "a\\u{d}b"),
      ("take\u{202e}vaw.exe", "take\\u{202e}vaw.exe"), ("\u{7f}", "\\u{7f}"),
    ] { #expect(raw.printable == shown) }
    #expect("a\r\nb\tc\n\u{1b}c".printableLines == "a\nb\tc\n\\u{1b}c")
  }

  @Test("a JSON document loses nothing, and holds nothing unprintable")
  func json() throws {
    for text in Self.scalars {
      let document = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
      #expect(isClean(document.printableJSON))
      #expect(try JSONDecoder().decode([String].self, from: Data(document.printableJSON.utf8)) == [text])
    }
  }

  @Test("long words are cut, and long sentences keep their end")
  func lengths() {
    let long = String(repeating: "ä", count: 100_000)
    #expect(long.quoted == "\"" + String(repeating: "ä", count: 40) + "…\"")
    let sentence = "there is no file \(long); give another".sentence
    #expect(sentence.count < 5100 && sentence.hasPrefix("there is") && sentence.hasSuffix("ä; give another"))
    #expect("short\u{7}".sentence == "short\\u{7}")
  }

  @Test("a list has commas, blanks beside them, and escaped commas in names")
  func lists() {
    for (text, members) in [
      ("a,b", ["a", "b"]), (" a , b ", ["a", "b"]), ("a\\,b", ["a,b"]), ("a\\\\,b", ["a\\", "b"]),
      ("a\\b", ["a\\b"]),
      ("", [""]), ("a,", ["a", ""]), ("Scarlett (1\\, 2):out,x:y", ["Scarlett (1, 2):out", "x:y"]),
      ("a\\", ["a\\"]),
    ] { #expect(text.listed == members, "\(text)") }
  }

  @Test("numbers are decimal: hexadecimal ones, words and units are none")
  func decimals() {
    for text in ["0", "-6", "+3.5", "1e3", ".5"] { #expect(text.decimal == Double(text)) }
    for text in ["0x10", "0x1p3", "nan", "inf", "-infinity", "1e999", "", "6dB", "1_000", " 1", "١"] {
      #expect(text.decimal == nil, "\(text)")
    }
  }
}
