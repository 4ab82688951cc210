import Foundation
import LiveSupport
import TestSupport
import Testing

extension LiveTests {
  @Suite("A frozen server") struct FrozenServerTests {
    @Test(
      "simulate --live and check --live report a frozen server with status 3, also two seconds after INT or TERM",
      .nightly,
      arguments: [SIGINT, SIGTERM, nil])
    func ends(signal: Int32?) throws {
      let graph = try LiveGraph(preset: "ring7")
      let scene = try graph.home.folder.write(SimulatorTests.scene, to: "scene.yaml")
      kill(graph.server.pid, SIGSTOP)
      defer { kill(graph.server.pid, SIGCONT) }
      let programs = try [["simulate", scene, "--live"], ["check", "--live"]].map { words in
        try Program(
          try PinnaHome.binary(), words + ["--server", graph.server.name], environment: graph.home.environment
        )
      }
      for program in programs {
        // The thread that waits for the server.
        let isWaiting = waitUntil(seconds: 60) { program.hasThread("pinna asks JACK") || !program.isRunning }
        #expect(isWaiting && program.isRunning, "\(program.errorText)")
        if let signal { program.signal(signal) }
      }
      for program in programs {
        let end = try #require(program.wait(seconds: signal == nil ? 15 : 5), "it still hangs")
        #expect(end.status == 3 && end.isOneSentence && end.error.contains("does not answer"), "\(end)")
      }
    }
  }
}
