import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  /// The web page of a running Pinna, over real HTTP. What needs no sound is in OfflineTests.
  @Suite("The web page in a live graph") struct WebTests {
    static let browser = ["/usr/bin/chromium", "/usr/lib/python3/dist-packages/websocket/__init__.py"]

    @Test(
      "in a browser, controls reach the engine, meters move, takes lock, and names, contrast and focus are right",
      .enabled(
        if: browser.allSatisfy { access($0, R_OK) == 0 },
        "needs the Debian packages chromium and python3-websocket"))
    func inBrowser() throws {
      let graph = try LiveGraph(
        preset: "phone5", period: 1024, synchronous: true, options: ["--web", "0"])
      let visitor = try WebVisitor(graph)
      var noise = SeededNoise(seed: 1)
      let player = try graph.player((0..<5).map { _ in noise.samples(48_000, amplitude: 0.2) }, repeats: true)
      player.start()
      let folder = ProcessInfo.processInfo.environment["PINNA_WEB_PICTURES"] ?? graph.home.folder.path
      let outcome = try Program.run(
        "/usr/bin/python3",
        [
          repositoryFolder + "/Tests/Browser/check-page", "http://\(visitor.host)/?token=\(visitor.token)",
          try PinnaHome.binary(), folder,
        ], environment: graph.home.environment, seconds: 240)
      #expect(outcome.status == 0, "\(outcome)")
      print(outcome.output)
    }
  }
}
