import Foundation
import TestSupport

/// The README as its tests read it.
struct Readme {
  /// A fenced block: what stands behind the opening fence, and the lines inside.
  struct Block {
    let language: String
    let lines: [String]
  }

  /// A line of a `console` block that begins with `$ `.
  struct Command {
    let text: String
    /// What `# status N` behind it says; 0 without.
    let status: Int
  }

  private let lines: [String]

  init() throws {
    lines = try String(contentsOfFile: repositoryFolder + "/README.md", encoding: .utf8)
      .components(separatedBy: "\n")
  }

  var blocks: [Block] {
    var found: [Block] = []
    var open: (language: String, lines: [String])?
    for line in lines {
      if line.hasPrefix("```") {
        if let block = open {
          found.append(Block(language: block.language, lines: block.lines))
          open = nil
        } else {
          open = (String(line.dropFirst(3)), [])
        }
      } else {
        open?.lines.append(line)
      }
    }
    return found
  }

  /// In the README's order.
  var commands: [Command] {
    blocks.filter { $0.language == "console" }.flatMap(\.lines).filter { $0.hasPrefix("$ ") }.map { line in
      let parts = line.dropFirst(2).components(separatedBy: "   # status ")
      return Command(text: parts[0], status: parts.count > 1 ? Int(parts[1])! : 0)
    }
  }

  /// Files that the README has the reader write: path below the configuration folder, and text.
  var configurationFiles: [(path: String, text: String)] {
    let mark = "# ~/.config/"
    return blocks.filter { $0.language == "yaml" && $0.lines.first?.hasPrefix(mark) == true }.map {
      (String($0.lines[0].dropFirst(mark.count)), $0.lines.joined(separator: "\n") + "\n")
    }
  }

  /// What stands between `<!-- name -->` and `<!-- /name -->`.
  func section(_ name: String) -> String? {
    guard let start = lines.firstIndex(of: "<!-- \(name) -->"),
      let end = lines.firstIndex(of: "<!-- /\(name) -->"),
      start < end
    else { return nil }
    return lines[(start + 1)..<end].map { $0 + "\n" }.joined()
  }

  /// The cells of every table row.
  var rows: [[String]] {
    lines.filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}
