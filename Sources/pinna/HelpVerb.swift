import Acoustics
import Control

extension Verb {
  static let help = Verb(
    name: "help", summary: "this overview",
    options: [Option("--markdown", "TABLE", "print a table of the README instead: methods or verbs")]
  ) { arguments in
    print(try arguments["--markdown"].map { try ReferenceTable(word: $0).markdown } ?? Tool.overview)
    return .done
  }
}

/// A table of the README, made from what the tool itself goes by.
enum ReferenceTable: String, NamedWord {
  case methods, verbs

  static let kind = "table"

  var markdown: String {
    switch self {
    case .methods:
      Self.table(
        ["method", "arguments", "what it does"],
        OSCMethod.all.map { ["`\($0.path)`", $0.arguments, $0.effect] })
    case .verbs:
      Self.table(
        ["command", "what it does", "options"],
        Tool.verbs.map { verb in
          let command = (["pinna", verb.name] + verb.operands).joined(separator: " ")
          let options = verb.options.map {
            "`" + [$0.name, $0.value].compactMap(\.self).joined(separator: " ") + "`"
          }
          return ["`\(command)`", verb.summary, options.joined(separator: ", ")]
        })
    }
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    ([head, head.map { _ in "---" }] + rows).map { cells in
      "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }.joined(separator: "\n")
  }
}
