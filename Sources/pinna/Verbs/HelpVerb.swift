import Acoustics
import Messages
import Settings

extension Verb {
  static let help = Verb(
    name: "help", operands: ["[VERB]", "[WORD]"], summary: "show this overview, or the help of one verb",
    options: [
      Option("--completions", "SHELL", "print completions for bash, zsh or fish"),
      Option("--man", nil, "print the manual page"),
      Option("--markdown", "TABLE", "print a table of docs/control.md: methods, statuses or verbs"),
    ]
  ) { arguments in
    let text =
      if let word = arguments["--completions"] {
        try Shell(word: word).completions
      } else if arguments.has("--man") {
        ManualPage.text
      } else if let word = arguments["--markdown"] {
        try ReferenceTable(word: word).markdown
      } else if arguments.operands.isEmpty {
        Overview.text
      } else {
        try Tool.help(for: arguments.operands)
      }
    Tool.say(text)
    return .done
  }
}

/// A reference table of docs/control.md, generated from the definitions that the tool itself uses.
enum ReferenceTable: String, NamedWord {
  case methods, statuses, verbs

  static let kind = "table"

  var markdown: String {
    switch self {
    case .methods:
      Self.table(
        ["method", "arguments", "what it does"],
        OSCMethod.all.map { ["`\($0.path)`", $0.arguments, $0.effect] })
    case .statuses:
      Self.table(["status", "meaning"], ExitStatus.allCases.map { ["\($0.rawValue)", $0.meaning] })
    case .verbs:
      Self.table(
        ["command", "what it does"],
        Tool.verbs.map { verb in
          ["`" + (["pinna", verb.name] + verb.operands).joined(separator: " ") + "`", verb.summary]
        })
    }
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    ([head, head.map { _ in "---" }] + rows).map { cells in
      "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }.joined(separator: "\n")
  }
}
