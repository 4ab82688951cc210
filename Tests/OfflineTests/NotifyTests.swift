import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// What `pinna run` tells the service manager that started it: sd_notify(3).
  @Suite("Readiness") struct NotifyTests {
    /// Names of two kinds, new for each test.
    static func names(in home: PinnaHome) -> [String] {
      [home.folder.path + "/notify", "@pinna-test-\(LiveGraph.uniqueName())"]
    }

    @Test("Pinna is ready once it is in the graph, not while it waits for a server, and says when it stops")
    func ready() throws {
      for n in 0...1 {
        let home = try PinnaHome()
        let socket = try NotifySocket(Self.names(in: home)[n])
        let server = try OfflineServer(home: home, isRunning: false)
        let program = try home.start(
          ["--server", server.name, "--wait", "60", "--web", "0"],
          server.environment.merging(["NOTIFY_SOCKET": socket.name]) { $1 })
        #expect(waitUntil(seconds: 10) { socket.datagrams == ["STATUS=not in the graph yet"] })
        let isMore = waitUntil(seconds: 0.5) { socket.datagrams.count > 1 }
        #expect(!isMore, "\(socket.datagrams)")
        server.start()
        try #require(waitUntil(seconds: 30) { socket.datagrams.count > 1 }, "\(program.errorText)")
        // Its ports are there by then.
        let ports = try server.ports()
        #expect(ports.contains("pinna:out_left") && ports.contains("pinna:top"), "\(ports)")
        #expect(
          socket.datagrams[1] == "READY=1\nSTATUS=pinna is in the graph: 5 microphones, preset phone5")
        // Children must not speak for it.
        let children = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
          (try? String(contentsOfFile: "/proc/\($0)/stat", encoding: .utf8))?
            .contains(") S \(program.pid) ") == true
        }
        #expect(!children.isEmpty)
        for child in children {
          let environment = try Data(contentsOf: URL(filePath: "/proc/\(child)/environ"))
          #expect(environment.range(of: Data("NOTIFY_SOCKET".utf8)) == nil)
        }
        if n == 0 { program.signal(SIGTERM) } else { #expect(try home.pinna("stop").status == 0) }
        #expect(program.wait(seconds: 20)?.status == 0)
        let last = socket.datagrams.dropFirst(2)
        #expect(last.first == "STOPPING=1\nSTATUS=stopping", "\(socket.datagrams)")
        #expect(last.allSatisfy { !$0.contains("READY") })
      }
    }

    @Test("the status is the last warning, such as that the server has gone")
    func status() throws {
      let home = try PinnaHome()
      let socket = try NotifySocket(home.folder.path + "/notify")
      let graph = try OfflineGraph(preset: "phone5", home: home, environment: ["NOTIFY_SOCKET": socket.name])
      try graph.killServer()
      #expect(
        waitUntil(seconds: 20) {
          socket.datagrams.contains {
            $0.hasPrefix("STATUS=") && $0.contains("Pinna reconnects when it is back")
          }
        }, "\(socket.datagrams)\(graph.program.errorText)")
      #expect(socket.datagrams.count { $0.contains("READY=1") } == 1)
    }

    @Test("a socket that nobody reads delays nothing; once there is room, Pinna is ready")
    func full() throws {
      let home = try PinnaHome()
      let socket = try NotifySocket(home.folder.path + "/notify")
      try socket.fill()
      // Returns when Pinna answers.
      let graph = try OfflineGraph(preset: "phone5", home: home, environment: ["NOTIFY_SOCKET": socket.name])
      #expect(try graph.status()["server"] as? String == "running")
      #expect(waitUntil(seconds: 10) { socket.datagrams.contains { $0.hasPrefix("READY=1\n") } })
    }

    @Test("a NOTIFY_SOCKET that leads nowhere changes nothing")
    func nowhere() throws {
      for name in [
        "", "@", "/", "relative", "/nowhere/notify", "@nobody", "vsock:2:1",
        String(repeating: "/x", count: 99),
      ] {
        let graph = try OfflineGraph(preset: "phone5", environment: ["NOTIFY_SOCKET": name])
        #expect(try graph.pinna("stop").status == 0)
        #expect(graph.program.wait(seconds: 10)?.status == 0, "\(name)")
        #expect(
          !graph.program.errorText.lowercased().contains("notify"), "\(name): \(graph.program.errorText)")
      }
    }
  }
}
