import Glibc
import Messages
import Settings
import Text

/// The manual page `pinna(1)` in roff, generated from the same definitions as `--help`.
enum ManualPage {
  static var text: String {
    let verbs = Tool.verbs.map { verb in
      let usage = ([verb.name] + verb.operands).joined(separator: " ")
      let other = verb.many.map { [escaped("Or: \(verb.name) \($0.usage)."), ".br"] } ?? []
      return
        ([".SS \(escaped(usage))"] + other + [escaped(verb.summary.firstCapitalised + ".")]
        + (verb.options + [Verb.helpOption]).map(paragraph)).joined(separator: "\n")
    }
    return """
      .TH PINNA 1 "" "pinna \(Tool.version)" "User Commands"
      .SH NAME
      pinna \\- data sources, polar patterns and binaural stereo for any microphone array, on JACK
      .SH SYNOPSIS
      .B pinna
      .I VERB
      [\\fIoptions\\fR]
      .SH VERBS
      \(verbs.joined(separator: "\n"))
      .SH EXIT STATUS
      \(ExitStatus.allCases.map { ".TP\n\($0.rawValue)\n\(escaped($0.meaning.replacing("`", with: "").firstCapitalised))." }.joined(separator: "\n"))
      .SH SEE ALSO
      .BR jackd (1)
      """
  }

  private static func paragraph(_ option: Verb.Option) -> String {
    let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
    return ".TP\n\\fB\(escaped(option.name))\\fR\(value)\n\(escaped(option.help))"
  }

  /// Escapes backslashes, hyphens and non-ASCII characters, and a leading "." or "'" that roff would read as a request.
  private static func escaped(_ text: String) -> String {
    let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").unicodeScalars.map {
      $0.isASCII ? String($0) : "\\[u" + String(format: "%04X", $0.value) + "]"
    }.joined()
    return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
  }
}

extension String {
  fileprivate var firstCapitalised: String { prefix(1).uppercased() + dropFirst() }
}
