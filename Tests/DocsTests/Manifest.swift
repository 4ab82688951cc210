import Foundation
import TestSupport

/// Package.swift as parsed by its tests.
struct Manifest {
  struct Target {
    let name: String
    /// The folder of its sources, relative to the repository.
    let folder: String
    let dependencies: [String]
  }

  /// In the order of Package.swift, without C libraries and the kernels for newer processors.
  let targets: [Target]
  /// The names of the C libraries.
  let libraries: Set<String>

  init() throws {
    let text = try String(contentsOfFile: repositoryFolder + "/Package.swift", encoding: .utf8)
    libraries = Set(
      text.matches(of: #/(?:\blibrary\(|systemLibrary\(name: )"(\w+)"/#).map { String($0.output.1) })
    targets = text.matches(of: #/\.(target|executableTarget|testTarget)\(\s*name: "([\w-]+)"/#).map { match in
      let body = Self.call(text[match.range.lowerBound...])
      let isTest = match.output.1 == "testTarget"
      let name = String(match.output.2)
      let path = body.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.output.1) }
      let list = body.firstMatch(of: #/dependencies: \[([^\]]*)\]/#)?.output.1 ?? ""
      return Target(
        name: name, folder: path ?? (isTest ? "Tests/" : "Sources/") + name,
        dependencies: list.matches(of: #/"([\w-]+)"/#).map { String($0.output.1) })
    }
  }

  subscript(name: String) -> Target? { targets.first { $0.name == name } }

  /// Everything that a target links, directly or indirectly.
  func everything(linkedBy name: String) -> Set<String> {
    let direct = self[name]?.dependencies ?? []
    return direct.reduce(into: Set(direct)) { $0.formUnion(everything(linkedBy: $1)) }
  }

  /// The text from a call's dot to its closing parenthesis.
  private static func call(_ text: Substring) -> Substring {
    var depth = 0
    for n in text.indices {
      if text[n] == "(" { depth += 1 }
      if text[n] == ")" {
        depth -= 1
        if depth == 0 { return text[...n] }
      }
    }
    return text
  }
}
