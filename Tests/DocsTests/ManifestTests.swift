import Foundation
import TestSupport
import Testing

/// Rules for the rooms in Package.swift and docs/architecture.md.
@Suite("Package.swift") struct ManifestTests {
  let manifest: Manifest
  init() throws { manifest = try Manifest() }

  @Test("a target in Package.swift depends only on targets above it")
  func oneWay() {
    #expect(manifest.targets.count > 30 && manifest.libraries.count > 5)
    var above = manifest.libraries
    for target in manifest.targets {
      for dependency in target.dependencies {
        #expect(above.contains(dependency), "\(target.name) depends on \(dependency), which is not above it")
      }
      above.insert(target.name)
    }
  }

  @Test(
    "rendering and checking link no JACK",
    arguments: ["Rendering", "RenderingTests", "GuidedCheck", "ArrayCheck", "Simulation"])
  func noJACK(name: String) throws {
    try #require(manifest[name] != nil)
    #expect(
      manifest.everything(linkedBy: name).isDisjoint(with: [
        "CJack", "JackClient", "JackTools", "Processor", "Control",
      ]))
  }

  @Test(
    "views and the sessions of other programs reach no JACK and no LAPACK",
    arguments: ["Messages", "Monitor", "WebPage", "PinnaRemote"])
  func messagesOnly(name: String) throws {
    try #require(manifest[name] != nil)
    #expect(
      manifest.everything(linkedBy: name).isDisjoint(with: ["CJack", "JackClient", "CLapack", "Numerics"]))
    // Their users do.
    #expect(manifest.everything(linkedBy: "PinnaSession").isSuperset(of: ["Messages", "CJack", "CLapack"]))
  }

  @Test("servers, players and recorders for tests are not linked into the library")
  func noTools() throws {
    let linked = manifest.everything(linkedBy: "PinnaSession")
    #expect(linked.isSuperset(of: ["Control", "GuidedCheck"]))
    #expect(linked.isDisjoint(with: ["JackTools", "LiveCheck", "Plots"]))
  }

  /// SwiftPM does not enforce this: a target can import a module that another one has built.
  @Test("a target's dependencies include everything that its sources import")
  func imports() throws {
    let names = manifest.libraries.union(manifest.targets.map(\.name))
    for target in manifest.targets {
      // A target's folder may contain other targets' folders.
      let others = manifest.targets.map(\.folder).filter { $0.hasPrefix(target.folder + "/") }
      let files = FileManager.default.enumerator(atPath: repositoryFolder + "/" + target.folder)
      for case let file as String in try #require(files, "\(target.folder)") where file.hasSuffix(".swift") {
        let path = "\(target.folder)/\(file)"
        guard !others.contains(where: { path.hasPrefix($0 + "/") }) else { continue }
        let text = try String(contentsOfFile: repositoryFolder + "/" + path, encoding: .utf8)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
          let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3).map { String(Substring($0)) }
          // "import Control", or "@preconcurrency import Control"
          guard line.first != UInt8(ascii: " "), words.count > 1, words.dropLast().last == "import",
            names.contains(words.last!)
          else { continue }
          #expect(target.dependencies.contains(words.last!), "\(path) imports \(words.last!)")
        }
      }
    }
  }

  /// Foundation brings 30 MB of ICU's data into the program. `Text`, `Threads` and FoundationEssentials have what it needs.
  @Test("no file of Sources imports Foundation, only FoundationEssentials")
  func noFoundation() throws {
    let folder = repositoryFolder + "/Sources"
    var imports: [String] = []
    for case let file as String in try #require(FileManager.default.enumerator(atPath: folder))
    where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      imports += text.matches(of: /import (?:\w+ )?(Foundation\w*)/).map { "\(file): \($0.output.1)" }
    }
    #expect(imports.count > 50)
    #expect(imports.filter { !$0.hasSuffix(" FoundationEssentials") } == [])
  }

  @Test("Package.swift has the rooms of the architecture page, in the same order")
  func page() throws {
    let sources = manifest.targets.filter { $0.folder.hasPrefix("Sources/") }.map(\.name)
    let rows = try Page("docs/architecture.md").rows.compactMap { $0.first }
    let listed = rows.map { $0.trimmingCharacters(in: ["`"]) }.filter(sources.contains)
    // They share the kernels' row.
    #expect(listed == sources.filter { $0 != "FasterKernels" })
  }
}
