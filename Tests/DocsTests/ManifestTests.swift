import Foundation
import TestSupport
import Testing

/// What Package.swift and docs/architecture.md promise of the rooms.
@Suite("Package.swift") struct ManifestTests {
  let manifest: Manifest
  init() throws { manifest = try Manifest() }

  @Test("lets each target use those above it alone")
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
    "needs no JACK to render and to check",
    arguments: ["Rendering", "RenderingTests", "GuidedCheck", "Simulation"])
  func noJACK(name: String) throws {
    try #require(manifest[name] != nil)
    #expect(
      manifest.everything(linkedBy: name).isDisjoint(with: ["CJack", "JackClient", "JackTools", "Control"]))
  }

  @Test("keeps servers, players and recorders for tests out of the library")
  func noTools() throws {
    let linked = manifest.everything(linkedBy: "PinnaSession")
    #expect(linked.isSuperset(of: ["Control", "GuidedCheck"]))
    #expect(linked.isDisjoint(with: ["JackTools", "LiveCheck", "Plots"]))
  }

  /// SwiftPM itself lets a target import what another has built.
  @Test("names what the sources import")
  func imports() throws {
    let names = manifest.libraries.union(manifest.targets.map(\.name))
    for target in manifest.targets {
      // A target's folder may hold the folders of others.
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

  @Test("has the rooms that the architecture page lists, in its order")
  func page() throws {
    let sources = manifest.targets.filter { $0.folder.hasPrefix("Sources/") }.map(\.name)
    let rows = try Page("docs/architecture.md").rows.compactMap { $0.first }
    let listed = rows.map { $0.trimmingCharacters(in: ["`"]) }.filter(sources.contains)
    // In the row of the kernels.
    #expect(listed == sources.filter { $0 != "FasterKernels" })
  }
}
