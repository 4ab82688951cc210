import Foundation
import TestSupport
import Testing

/// A page of the documentation as parsed by its tests.
struct Page: CustomTestStringConvertible {
  /// A fenced block: the word after the opening fence, and the lines inside.
  struct Block {
    let language: String
    let lines: [String]
  }

  /// A line of a `console` block that begins with `$ `.
  struct Command {
    let text: String
    /// The N of `# status N` after the command; 0 by default.
    let status: Int
    /// The lines after it, up to the next command.
    var output: [String] = []
  }

  /// The path relative to the repository.
  let path: String
  private let lines: [String]
  var testDescription: String { path }

  init(_ path: String) throws {
    self.path = path
    lines = try String(contentsOfFile: repositoryFolder + "/" + path, encoding: .utf8)
      .components(separatedBy: "\n")
  }

  /// The pages of the top folder, then every page of docs.
  static let all: [Page] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: repositoryFolder + "/docs")) ?? []
    let pages = names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
    return (["README.md", "CONTRIBUTING.md", "SECURITY.md"] + pages).compactMap { try? Page($0) }
  }()

  /// The README of every room that has one.
  static let ofRooms: [Page] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: repositoryFolder + "/Sources")) ?? []
    return names.sorted().compactMap { try? Page("Sources/\($0)/README.md") }
  }()

  var text: String { lines.joined(separator: "\n") }

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

  /// The commands in the page's order. A file that the reader is told to write is copied from `$FILES`.
  var commands: [Command] {
    var found: [Command] = []
    for block in blocks {
      if let file = Self.configurationFile(block) {
        found.append(
          Command(text: "install -D \"$FILES/\(file.path)\" \"$XDG_CONFIG_HOME/\(file.path)\"", status: 0))
      }
      if block.language == "console" { found += Self.commands(block.lines) }
    }
    return found
  }

  private static func commands(_ lines: [String]) -> [Command] {
    var found: [Command] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        let parts = line.dropFirst(2).components(separatedBy: "   # status ")
        found.append(Command(text: parts[0], status: parts.count > 1 ? Int(parts[1])! : 0))
      } else if !found.isEmpty {
        found[found.count - 1].output.append(line)
      }
    }
    return found
  }

  /// Files that the page tells the reader to write: path below the configuration folder, and text.
  var configurationFiles: [(path: String, text: String)] { blocks.compactMap(Self.configurationFile) }

  private static func configurationFile(_ block: Block) -> (path: String, text: String)? {
    let mark = "# ~/.config/"
    guard block.language == "yaml", let first = block.lines.first, first.hasPrefix(mark) else { return nil }
    return (String(first.dropFirst(mark.count)), block.lines.joined(separator: "\n") + "\n")
  }

  /// The targets of its links to files of the repository, relative to the page.
  var links: [String] {
    text.matches(of: #/\]\(([^)#:]+)\)/#).map { String($0.output.1) }
  }

  /// The lines between `<!-- name -->` and `<!-- /name -->`.
  func section(_ name: String) -> String? {
    guard let start = lines.firstIndex(of: "<!-- \(name) -->"),
      let end = lines.firstIndex(of: "<!-- /\(name) -->"),
      start < end
    else { return nil }
    return lines[(start + 1)..<end].map { $0 + "\n" }.joined()
  }

  /// The lines from a heading to the next one, whatever its level.
  func lines(below heading: String) -> [String] {
    guard let start = lines.firstIndex(of: heading) else { return [] }
    return Array(lines[(start + 1)...].prefix { !$0.hasPrefix("#") })
  }

  /// The files and folders that lines name between backticks: words with a slash, or the ending of a source or a page.
  static func paths(in lines: [String]) -> [String] {
    lines.flatMap { $0.matches(of: #/`([^`\s]+)`/#) }.map { String($0.output.1) }.filter {
      $0.contains("/") || $0.hasSuffix(".swift") || $0.hasSuffix(".md")
    }
  }

  /// Those of `paths` that do not exist.
  /// - Parameter folder: what they are relative to, with a slash at its end; a path that begins with a slash is
  ///   relative to the repository.
  static func missing(_ paths: [String], from folder: String) -> [String] {
    paths.filter {
      let path = $0.hasPrefix("/") ? $0 : "/" + folder + $0
      return !FileManager.default.fileExists(atPath: repositoryFolder + path)
    }
  }

  /// The cells of every table row.
  var rows: [[String]] {
    lines.filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }
}
