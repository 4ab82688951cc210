extension String {
  /// The text made safe for one line of a terminal, a page or a log, whoever wrote it: control characters, line
  /// breaks and invisible characters are escaped as in Swift, `\u{1b}`.
  ///
  /// Names of other programs' clients and ports, of files, and all that stands in files pass here before they are
  /// shown, or through one of the two forms below.
  package var printable: String { escapingUnprintable(Self.escape) }

  /// The same for a text of several lines, whose line breaks and tabs stay.
  package var printableLines: String {
    (contains("\r\n") ? replacing("\r\n", with: "\n") : self)
      .escapingUnprintable(except: "\n\t", Self.escape)
  }

  /// The same for a JSON document, with JSON's escapes: such characters occur in its strings only, so nothing is
  /// lost.
  package var printableJSON: String {
    escapingUnprintable(except: "\n") { scalar in
      String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }

  /// `printable`, of which no more than the first `limit` scalars are shown.
  package func printable(limit: Int) -> String {
    let rest = unicodeScalars.dropFirst(limit)
    return rest.isEmpty ? printable : String(unicodeScalars.prefix(limit)).printable + "…"
  }

  /// One sentence for a message: printable, and where it is longer than any path, without its middle.
  package var sentence: String {
    let longest = (start: 4500, end: 500)
    guard unicodeScalars.count > longest.start + longest.end else { return printable }
    return String(unicodeScalars.prefix(longest.start)).printable + " … "
      + String(unicodeScalars.suffix(longest.end)).printable
  }

  /// A word that somebody typed or sent, in quotation marks, for a message: printable, and cut after 40 characters.
  package var quoted: String { "\"\(printable(limit: 40))\"" }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16))}"
  }

  private func escapingUnprintable(
    except kept: String = "", _ escape: (Unicode.Scalar) -> String
  ) -> String {
    func isKept(_ scalar: Unicode.Scalar) -> Bool {
      scalar.isPrintable || kept.unicodeScalars.contains(scalar)
    }
    guard unicodeScalars.contains(where: { !isKept($0) }) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if isKept(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += escape(scalar)
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether a terminal shows it, and does nothing else.
  package var isPrintable: Bool {
    if ("\u{20}"..<"\u{7F}").contains(self) { return true }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}

extension Character {
  /// Whether it holds a control character.
  package var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
