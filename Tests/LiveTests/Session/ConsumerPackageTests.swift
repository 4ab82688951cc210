import Foundation
import LiveSupport
import TestSupport
import Testing

/// Builds half of Pinna twice: 135 s on two busy cores.
private let isWanted = ProcessInfo.processInfo.environment["PINNA_CONSUMER"] != nil

extension LiveTests {
  @Suite("A package that depends on Pinna") struct ConsumerPackageTests {
    @Test(
      "a package can depend on Pinna by version for PinnaSession alone, and by revision for the fast kernels",
      .enabled(if: isWanted, "it builds Pinna anew, two minutes: set PINNA_CONSUMER=1"))
    func consumer() throws {
      let folder = try TemporaryFolder()
      let pinna = folder.path + "/pinna"
      func git(_ words: String...) throws -> String {
        let outcome = try Program.run("/usr/bin/git", words)
        try #require(outcome.status == 0, "\(outcome)")
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      _ = try git("clone", "--quiet", repositoryFolder, pinna)
      _ = try git("-C", pinna, "tag", "1.0.0")
      let revision = try git("-C", pinna, "rev-parse", "HEAD")

      let graph = try LiveGraph(preset: "phone5")
      // The library page's example, and more after it.
      let page = try String(contentsOfFile: repositoryFolder + "/docs/library.md", encoding: .utf8)
      let example = try #require(page.components(separatedBy: "```swift\n").dropFirst().first)
      let more = """

        print(session.inputOrientation.rawValue)

        """
      let session = example.components(separatedBy: "```")[0] + more
      #expect(
        try output(of: session, "from: \"1.0.0\"", ["PinnaSession"], in: folder, graph)
          .hasSuffix("top bottom 2\nlandscapeRight\n"))
      #expect(try graph.status()["inputOrientation"] as? String == "landscapeRight")

      // Compiler flags are allowed only in dependencies without a version.
      let local = """
        import FasterKernels
        import PinnaSession

        FasterKernels.register()
        let engine = try LocalEngine(name: "mine", server: "\(graph.server.name)", preset: "phone2")
        print(AudioSession(engine).sampleRate)

        """
      #expect(
        try output(
          of: local, "revision: \"\(revision)\"", ["PinnaSession", "PinnaFasterKernels"], in: folder, graph)
          == "48000.0\n")
    }

    /// Builds `program` as a package that depends on the clone by `requirement`, and runs it.
    private func output(
      of program: String, _ requirement: String, _ products: [String], in folder: TemporaryFolder,
      _ graph: LiveGraph
    ) throws -> String {
      let dependencies = products.map { ".product(name: \"\($0)\", package: \"pinna\")" }
      try folder.write(
        """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
          name: "consumer",
          dependencies: [.package(url: "file://\(folder.path)/pinna", \(requirement))],
          targets: [
            .executableTarget(name: "consumer", dependencies: [\(dependencies.joined(separator: ", "))])
          ])
        """, to: "consumer/Package.swift")
      try folder.write(program, to: "consumer/Sources/consumer/main.swift")
      let package = folder.path + "/consumer"
      let build = try Program.run(
        "/usr/bin/env", ["swift", "build", "--package-path", package], seconds: 900)
      try #require(build.status == 0, "\(build)")
      // Its presets are those of this checkout.
      var environment = graph.home.environment
      environment["PINNA_PRESETS"] = repositoryFolder + "/Presets"
      let outcome = try Program.run(package + "/.build/debug/consumer", [], environment: environment)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
  }
}
