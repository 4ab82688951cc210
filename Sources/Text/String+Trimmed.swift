extension StringProtocol {
  /// The text without blanks at its ends.
  /// - Parameter lines: whether line breaks are removed there, too.
  package func trimmed(lines: Bool = false) -> String {
    trimmed { $0.isBlank || lines && $0.isNewline }
  }

  /// The text without the scalars at its ends that satisfy `isUnwanted`.
  package func trimmed(where isUnwanted: (Unicode.Scalar) -> Bool) -> String {
    var rest = Substring(self).unicodeScalars[...]
    while let first = rest.first, isUnwanted(first) { rest.removeFirst() }
    while let last = rest.last, isUnwanted(last) { rest.removeLast() }
    return String(rest)
  }
}

extension Unicode.Scalar {
  /// A tab, or one of Unicode's spaces.
  package var isBlank: Bool {
    self == "\t" || self == "\u{200B}" || properties.generalCategory == .spaceSeparator
  }

  /// A control character, or an invisible one that formats text.
  package var isControl: Bool {
    properties.generalCategory == .control || properties.generalCategory == .format
  }

  /// Whether it breaks a line.
  package var isNewline: Bool {
    "\n"..."\r" ~= self || self == "\u{85}" || self == "\u{2028}" || self == "\u{2029}"
  }
}
