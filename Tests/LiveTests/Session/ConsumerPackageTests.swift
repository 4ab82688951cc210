import Foundation
import LiveSupport
import TestSupport
import Testing

/// It builds half of Pinna again, which takes minutes.
private let isWanted = ProcessInfo.processInfo.environment["PINNA_CONSUMER"] != nil

extension LiveTests {
  @Suite("Another package") struct ConsumerPackageTests {
    @Test(
      "depends on Pinna by version, links PinnaSession alone, and sets an orientation",
      .enabled(if: isWanted, "it builds for minutes: set PINNA_CONSUMER=1"))
    func consumer() throws {
      let folder = try TemporaryFolder()
      let pinna = folder.path + "/pinna"
      for words in [
        ["clone", "--quiet", repositoryFolder, pinna], ["-C", pinna, "tag", "1.0.0"],
      ] {
        let outcome = try Program.run("/usr/bin/git", words)
        try #require(outcome.status == 0, "\(outcome)")
      }
      try folder.write(
        """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
          name: "consumer",
          dependencies: [.package(url: "file://\(pinna)", from: "1.0.0")],
          targets: [
            .executableTarget(
              name: "consumer", dependencies: [.product(name: "PinnaSession", package: "pinna")])
          ])
        """, to: "consumer/Package.swift")
      try folder.write(
        """
        import PinnaSession

        let session = AudioSession.sharedInstance()
        try session.setCategory(.playAndRecord)
        try session.setActive(true)
        let input = session.availableInputs!.first { $0.portType == .builtInMic }!
        let back = input.dataSources!.first { $0.orientation == .back }!
        try back.setPreferredPolarPattern(.stereo)
        try input.setPreferredDataSource(back)
        let layout = try session.setPreferredInputOrientation(.landscapeRight).layout!
        print(session.inputOrientation.rawValue, layout.left.rawValue, layout.right.rawValue)
        """, to: "consumer/Sources/consumer/main.swift")
      let package = folder.path + "/consumer"
      let build = try Program.run(
        "/usr/bin/env", ["swift", "build", "--package-path", package], seconds: 900)
      try #require(build.status == 0, "\(build)")
      let graph = try LiveGraph(preset: "phone5")
      let outcome = try Program.run(
        package + "/.build/debug/consumer", [], environment: graph.home.environment)
      #expect(outcome.output == "landscapeRight top bottom\n", "\(outcome)")
      #expect(try graph.status()["inputOrientation"] as? String == "landscapeRight")
    }
  }
}
