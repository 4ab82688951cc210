import Foundation
import LiveSupport
import TestSupport
import Testing

/// A page of ../shared/seeds. Its listings are found by where they stand.
struct SeedPage {
  static let folder = repositoryFolder + "/../shared/seeds"
  static let areThere = FileManager.default.isReadableFile(atPath: folder)

  let lines: [String]

  /// - Parameter number: the first three digits of the file's name.
  init(_ number: String) throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
    let file = try #require(files.first { $0.hasPrefix(number + "_") })
    lines = try String(contentsOfFile: "\(Self.folder)/\(file)", encoding: .utf8)
      .components(separatedBy: "\n")
  }

  /// What stands between fences.
  var fenced: [String] {
    let parts = lines.split(omittingEmptySubsequences: false) { $0.hasPrefix("```") }
    return parts.enumerated().filter { $0.offset % 2 == 1 }.map { $0.element.joined(separator: "\n") }
  }

  /// What stands between empty lines, from the paragraph on that begins with `start`.
  func paragraphs(from start: String) throws -> [String] {
    let all = lines.split { $0.allSatisfy(\.isWhitespace) }.map { $0.joined(separator: "\n") }
    let first = try #require(all.firstIndex { $0.hasPrefix(start) })
    return Array(all[first...])
  }

  /// Listings that are one line each, below a line with a time and what their first comment says.
  var folded: [String] {
    lines.indices.filter { lines[$0].hasPrefix("// ") }.map { index in
      let caption = lines[index - 1].split(separator: " - ", maxSplits: 1).last ?? ""
      return String(lines[index].dropFirst("// ".count + caption.count))
    }
  }
}

/// What pages do to listings, undone.
enum SeedListing {
  /// Closes blocks that end where a line is indented less: a page lost the lines that only closed them.
  static func closingBlocks(of code: String) -> String {
    var open: [Int] = []
    var lines: [Substring] = []
    for line in code.split(separator: "\n") {
      let indentation = line.prefix { $0 == " " }.count
      let closes = line.dropFirst(indentation).hasPrefix("}")
      while let last = open.last, last >= indentation {
        open.removeLast()
        if closes, last == indentation { break }
        lines.append("}")
      }
      lines.append(line)
      let opened = line.count { $0 == "{" } - line.count { $0 == "}" } + (closes ? 1 : 0)
      if opened > 0 { open.append(indentation) }
    }
    return (lines + open.map { _ in "}" }).joined(separator: "\n")
  }

  /// Gives statements lines of their own, without the comments between them, and fills the ellipses in.
  static func unfolding(_ line: String, ellipses: [String] = []) -> String {
    let parts = line.replacing(#/// [^.]*\. /#, with: "\n")
      .replacing(#/([)\]}]) (?!(?:else|catch|in)\b)(?=[a-z@])/#) { "\($0.output.1)\n" }
      .components(separatedBy: "...")
    return parts.indices.map { parts[$0] + ($0 < ellipses.count ? ellipses[$0] : "\n") }.joined()
  }
}

/// Listings within a file of Tests/SeedPages, compiled beside the modules and objects that were built with the tests.
struct SeedProgram {
  private let folder = try! TemporaryFolder()
  private var path: String { folder.path + "/listings" }

  /// - Parameter listings: those that take the places of the file's comments LISTING 1, 2 and 3.
  init(_ surroundings: String, _ listings: [String]) throws {
    try #require(listings.count == 3, "\(listings)")
    var text = try String(
      contentsOfFile: "\(repositoryFolder)/Tests/SeedPages/\(surroundings).swift", encoding: .utf8)
    for (n, listing) in listings.enumerated() {
      // Not on Linux: actions of Objective-C, and NSError in place of every error.
      let ours = listing.replacing("AVAudioSession", with: "AudioSession")
        .replacing(#/@IBAction | as NSError/#, with: "")
      text.replace("// LISTING \(n + 1)", with: ours)
    }
    let source = try folder.write(text, to: "main.swift")

    // What a program of the session library is linked from, without that program.
    let program = URL(filePath: try PinnaHome.built("session-programs"))
    let objects = try String(contentsOfFile: program.path + ".product/Objects.LinkFileList", encoding: .utf8)
      .components(separatedBy: "\n").filter { !$0.contains("/session_programs.build/") }
    let list = try folder.write(objects.joined(separator: "\n"), to: "objects")
    let modules = program.deletingLastPathComponent().appending(path: "Modules").path
    let libraries = repositoryFolder + "/Sources/CLibraries"
    let maps = try FileManager.default.contentsOfDirectory(atPath: libraries).flatMap {
      ["-Xcc", "-fmodule-map-file=\(libraries)/\($0)/module.modulemap"]
    }
    let build = try Program.run(
      "/usr/bin/env", ["swiftc", "-o", path, "-I", modules, source, "@\(list)"] + maps, seconds: 600)
    try #require(build.status == 0, "\(build)\n\(text)")
  }

  func output(in graph: OfflineGraph, _ arguments: String...) throws -> String {
    try graph.output(ofProgramAt: path, arguments)
  }
}
