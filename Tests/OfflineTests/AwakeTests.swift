import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// With a program in the place of systemd-inhibit: what logind does is not tested.
  @Suite("Keeping the machine awake") struct AwakeTests {
    let home: PinnaHome
    var log: String { home.folder.path + "/inhibit.log" }

    init() throws { home = try PinnaHome() }

    /// A graph whose Pinna finds this script as systemd-inhibit.
    func graph(_ script: String?) throws -> OfflineGraph {
      let folder = home.folder.path + "/bin"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for name in ["cat", "sh", "sleep"] {
        try FileManager.default.createSymbolicLink(
          atPath: "\(folder)/\(name)", withDestinationPath: "/usr/bin/\(name)")
      }
      if let script {
        try home.folder.write("#!/bin/sh\n" + script, to: "bin/systemd-inhibit")
        chmod(folder + "/systemd-inhibit", 0o755)
      }
      return try OfflineGraph(
        preset: "phone5", period: 1024, home: home, environment: ["PATH": folder])
    }

    /// Notes its process and its words, and does what systemd-inhibit does with its last one.
    var holding: String {
      """
      echo "$$ $*" >>"\(log)"
      for last; do :; done
      exec "$last"

      """
    }

    func holder() throws -> (pid: Int32, words: String) {
      try #require(
        waitUntil(seconds: 10) {
          (try? String(contentsOfFile: log, encoding: .utf8))?.hasSuffix("\n") == true
        })
      let line = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").last ?? ""
      let parts = line.split(separator: " ", maxSplits: 1)
      return (Int32(parts.first ?? "") ?? -1, String(parts.last ?? ""))
    }

    func isAlive(_ pid: Int32) -> Bool { pid > 0 && kill(pid, 0) == 0 }

    @Test("an inhibitor of sleep, idleness and the lid is held while a take runs, and not longer")
    func held() throws {
      let graph = try graph(holding)
      #expect(access(log, F_OK) != 0)
      let path = try graph.startTake()
      let (pid, words) = try holder()
      #expect(
        words.contains("--what=sleep:idle:handle-lid-switch") && words.contains("--mode=block"), "\(words)")
      #expect(words.contains("pinna records a take"), "\(words)")
      try graph.waitForTake(frames: 48_000)
      #expect(isAlive(pid))
      try graph.stopTake(path)
      #expect(waitUntil(seconds: 10) { !isAlive(pid) })
      #expect(!graph.program.errorText.contains("go to sleep"), "\(graph.program.errorText)")
    }

    @Test("a Pinna that is killed during its take lets the machine sleep again")
    func killed() throws {
      let graph = try graph(holding)
      _ = try graph.startTake()
      let (pid, _) = try holder()
      #expect(isAlive(pid))
      kill(graph.program.pid, SIGKILL)
      #expect(waitUntil(seconds: 10) { !isAlive(pid) })
    }

    @Test(
      "without systemd-inhibit, and where it is refused, takes are whole, and one warning says why",
      arguments: [nil, "echo 'Failed to inhibit: Access denied' >&2\nexit 1\n"])
    func absent(script: String?) throws {
      let graph = try graph(script)
      for _ in 0..<2 {
        let path = try graph.startTake(frames: 24_000)
        #expect(try graph.stopTake(path).missing == [])
      }
      let warnings = graph.program.errorText.split(separator: "\n").filter { $0.contains("go to sleep") }
      #expect(warnings.count == 1, "\(graph.program.errorText)")
      #expect(
        warnings.first?.contains(script == nil ? "not installed" : "Access denied") == true, "\(warnings)")
    }

    @Test("record start --for ends the take by itself with exactly that length")
    func byItself() throws {
      let graph = try graph(holding)
      let path = try graph.startTake("--for", "2s")
      try #require(try waitUntil(seconds: 20) { try graph.status()["lastTake"] as? [String: Any] != nil })
      let sidecar = try TakeFiles.sidecar(path)
      #expect(sidecar.frames == 96_000 && sidecar.state == .complete && sidecar.setup.pinna == "pinna")
      #expect(
        sidecar.events.contains { $0.what.contains("the length that was asked for") }, "\(sidecar.events)")
      let stop = try graph.pinna("record", "stop")
      #expect(stop.status == 0 && stop.output.contains("it has ended because"), "\(stop)")
    }
  }
}
