import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  /// The real program in a real terminal.
  @Suite("Monitor", .enabled(if: Tmux.isInstalled, "tmux is not installed")) struct MonitorTests {
    static let sizes = [(80, 24), (120, 40), (200, 60)]

    /// A terminal with the monitor in it, which shows Pinna.
    func monitor(_ graph: OfflineGraph, _ width: Int = 80, _ height: Int = 24, _ more: [String: String] = [:])
      throws
      -> Tmux
    {
      let tmux = try Tmux(home: graph.home, width: width, height: height, more)
      try tmux.enter("\"$PINNA\" monitor")
      try tmux.wait(for: "LIVE")
      return tmux
    }

    @Test(
      "every key has its effect in Pinna, and the window shows it, at every size", .long, arguments: sizes)
    func keys(width: Int, height: Int) throws {
      // The window shows the first seconds of a take.
      let graph = try OfflineGraph(preset: "phone5", speed: 1)
      let tmux = try monitor(graph, width, height)
      /// Presses a key and waits until status and window say so.
      func expect(
        _ key: String, _ shown: String, after seconds: Double = 0,
        at location: SourceLocation = #_sourceLocation, _ isSo: ([String: Any]) -> Bool
      ) throws {
        try tmux.press(key, after: seconds)
        let isInForce = try waitUntil(seconds: 60, every: 50) { isSo(try graph.status()) }
        let screen = try tmux.screen()
        #expect(isInForce, "\(key): \(screen)", sourceLocation: location)
        #expect(
          try waitUntil(seconds: 5, every: 50) {
            // tmux cuts spaces at the ends of lines.
            try tmux.screen().replacing("\n", with: " \n").contains(shown)
          },
          "\(key): \(shown): \(screen)",
          sourceLocation: location)
      }
      try expect("+", "+1.0 dB") { $0["gainDB"] as? Double == 1 }
      try expect("-", "+0.0 dB") { $0["gainDB"] as? Double == 0 }
      try expect("h", "40 Hz") { $0["highPassHz"] as? Double == 40 }
      try expect("H", "High-pass    off") { $0["highPassHz"] == nil }
      try expect("m", "MUTED") { $0["muted"] as? Bool == true }
      try expect("m", "LIVE") { $0["muted"] as? Bool == false }
      try expect("o", "portraitUpsideDown") { $0["inputOrientation"] as? String == "portraitUpsideDown" }
      try expect("O", "Orientation  portrait ") { $0["inputOrientation"] as? String == "portrait" }
      // Stereo is the last pattern, omnidirectional the first.
      try expect("p", "omnidirectional") { $0["polarPattern"] as? String == "omnidirectional" }
      try expect("d", "forward is up or down") { $0["dataSource"] as? String == "Bottom" }
      try expect("d", "↓ forward") { $0["dataSource"] as? String == "Front" }
      try expect("P", " R ") { $0["polarPattern"] as? String == "stereo" }
      try expect("D", "does not offer") { $0["dataSource"] as? String == "Front" }
      try expect("D", "↑ forward") { $0["dataSource"] as? String == "Back" }

      try tmux.press("s")
      try tmux.wait(for: "● phone5")
      try tmux.press("Up")
      try expect("Enter", "phone4") { $0["preset"] as? String == "phone4" }
      try tmux.press("s")
      try tmux.wait(for: "● phone4")
      try tmux.press("Down")
      try expect("Enter", "phone5") { $0["preset"] as? String == "phone5" }

      try expect("r", "RECORDING 0:0") {
        $0["state"] as? String == "recording"
          && ($0["take"] as? [String: Any])?["frames"] as? Int ?? 0 > 48_000
      }
      try expect("d", "twice") { $0["dataSource"] as? String == "Back" }
      try expect("k", "Markers      1") { ($0["take"] as? [String: Any])?["markers"] as? Int == 1 }
      try expect("r", "press r again") { $0["state"] as? String == "recording" }
      // Two presses of r within 0.3 s are one key that is held.
      try expect("r", "last take", after: 0.35) { $0["state"] as? String == "stopped" }

      try tmux.press("l")
      try tmux.wait(for: "1 bottom-left")
      try tmux.press("Down")
      try expect("Enter", "only bottom-left") { $0["listening"] as? String == "bottom-left" }
      try tmux.press("?")
      try tmux.wait(for: "clear clips and holds")
      try tmux.press("x")
      try tmux.press("q")
      #expect(try waitUntil(seconds: 5, every: 50) { try !tmux.isTaken() })
    }

    @Test("arrow keys turn the look of the chosen feed, with Shift by 1°, and 0 ends it; a take refuses them")
    func look() throws {
      let graph = try OfflineGraph(preset: "ring7")
      let tmux = try monitor(graph)
      try tmux.wait(for: "Pose         none")
      try #require(try graph.pinna("set", "--pattern", "cardioid").status == 0)
      try tmux.wait(for: "Look         forward")
      func becomes(_ look: [Double]?) throws -> Bool {
        try waitUntil(seconds: 20) { try graph.status()["look"] as? [Double] == look }
      }
      for key in ["Left", "Left", "S-Left", "Up"] { try tmux.press(key) }
      #expect(try becomes([11, 5]))
      try tmux.wait(for: "Look         11°, 5° up")
      try tmux.press("0")
      #expect(try becomes(nil))
      try tmux.wait(for: "Look         forward")
      try #require(try graph.pinna("feed", "add", "anna", "--format", "mono").status == 0)
      try tmux.wait(for: "main (1 of 2)")
      try tmux.press("f")
      try tmux.press("Right")
      let isTurned = try waitUntil(seconds: 20) {
        try graph.feeds()["anna"]?["look"] as? [Double] == [-5, 0]
      }
      #expect(isTurned)
      #expect(try graph.status()["look"] == nil)
      try tmux.wait(for: "Look         -5°")
      // A take that began earlier would record the nearest look, and lock it.
      let isHeard = try waitUntil(seconds: 60) {
        try graph.feeds()["anna"]?["isHeard"] as? Bool == true
      }
      try #require(isHeard)
      try #require(try graph.pinna("record", "start").status == 0)
      try tmux.wait(for: "RECORDING")
      try tmux.press("Right")
      try tmux.wait(for: "twice")
      #expect(try graph.feeds()["anna"]?["look"] as? [Double] == [-5, 0])
    }

    @Test(
      "arrow keys turn yaw and roll of stereo and of B-format, 0 ends them; a head tracker's pose is shown; a take refuses"
    )
    func pose() throws {
      let graph = try OfflineGraph(preset: "phone5")
      try #require(
        try graph.pinna("set", "--data-source", "Back", "--pattern", "stereo", "--orientation", "portrait")
          .status == 0)
      try #require(try graph.pinna("feed", "add", "room", "--format", "ambix").status == 0)
      let tmux = try monitor(graph)
      try tmux.wait(for: "Pose         none")
      try tmux.press("Up")
      // Its filters are designed.
      try tmux.wait(for: "Pose         roll 5°", seconds: 60)
      #expect(try graph.status()["roll"] as? Double == 5)
      try tmux.press("0")
      try tmux.wait(for: "Pose         none", seconds: 20)
      #expect(try graph.status()["roll"] == nil)
      try tmux.press("f")
      try tmux.wait(for: "room (2 of 2)")
      for key in ["Left", "Left", "S-Right", "Down"] { try tmux.press(key) }
      func room(_ yaw: Double?, _ roll: Double?) throws -> Bool {
        try waitUntil(seconds: 20) {
          let room = try graph.feeds()["room"]
          return room?["yaw"] as? Double == yaw && room?["roll"] as? Double == roll
        }
      }
      #expect(try room(9, -5))
      try tmux.wait(for: "Pose         roll -5°, yaw 9°")
      try #require(try graph.pinna("set", "--feed", "room", "--yaw", "0", "--follow", "yaw").status == 0)
      try tmux.wait(for: "Pose         roll -5 follow yaw")
      let sender = try graph.sender()
      sender.send("/ypr", "12", "0", "3")
      try #require(sender.reply(seconds: 5)?.status == 0)
      try tmux.wait(for: "head tracker: yaw 12°, pitch 0°, roll 3°")
      try #require(try graph.pinna("record", "start").status == 0)
      try tmux.wait(for: "RECORDING")
      try tmux.press("Right")
      try tmux.wait(for: "twice")
      #expect(try room(nil, -5))
    }

    @Test("f chooses a feed, which keys then change and not main; a feed that goes is said to have gone")
    func feeds() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let tmux = try monitor(graph)
      try #require(try graph.pinna("feed", "add", "anna", "--format", "mono").status == 0)
      try tmux.wait(for: "main (1 of 2)")
      try tmux.press("f")
      try tmux.wait(for: "anna (2 of 2)")
      for key in ["-", "m"] { try tmux.press(key) }
      #expect(
        try waitUntil(seconds: 5) {
          let anna = try graph.feeds()["anna"]
          return anna?["gainDB"] as? Double == -1 && anna?["muted"] as? Bool == true
        })
      let main = try graph.status()
      #expect(main["gainDB"] as? Double == 0 && main["muted"] as? Bool == false)
      try #require(try graph.pinna("feed", "remove", "anna").status == 0)
      try tmux.wait(for: "anna: gone")
    }

    @Test("the window is drawn anew when the terminal changes its size, and says when it is too small")
    func resized() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let tmux = try monitor(graph)
      for (width, height) in [(200, 60), (60, 20), (120, 40), (80, 24)] {
        try tmux.resize(width: width, height: height)
        if width < 80 {
          try tmux.wait(for: "needs 80×24")
          continue
        }
        // The state stands at the right end of the first row, the hints in the last.
        #expect(
          try waitUntil(seconds: 5, every: 50) {
            let lines = try tmux.screen().split(separator: "\n", omittingEmptySubsequences: false)
            return lines[0].count == width - 1 && lines[0].hasSuffix("LIVE")
              && lines[height - 1].contains("q quit")
          }, "\(width)×\(height)")
      }
    }

    @Test("a Pinna that ends is said to have gone, and one that starts again is shown without a key")
    func reconnects() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let tmux = try monitor(graph)
      kill(graph.program.pid, SIGKILL)
      try tmux.wait(for: "NO PINNA", seconds: 5)
      try tmux.wait(for: "no Pinna named")
      _ = graph.program.wait(seconds: 5)
      try graph.restart()
      try tmux.wait(for: "LIVE")
      try tmux.press("m")
      #expect(try waitUntil(seconds: 5) { try graph.status()["muted"] as? Bool == true })
    }

    @Test("colours are left out with NO_COLOR, and characters beyond ASCII in another locale")
    func plain() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let colours = ["\u{1B}[32", "\u{1B}[30m\u{1B}[42", "\u{1B}[36"]
      do {
        let screen = try monitor(graph).screen(hasColours: true)
        #expect(colours.contains(where: screen.contains), "\(screen)")
      }
      let tmux = try monitor(graph, 80, 24, ["NO_COLOR": "1", "LANG": "C"])
      // The picture comes last.
      try tmux.wait(for: "+---")
      let screen = try tmux.screen(hasColours: true)
      // tmux itself writes 39 and 49: the terminal's own colours.
      #expect(screen.firstMatch(of: /\u{1B}\[[34][0-7]/) == nil, "\(screen)")
      #expect(screen.unicodeScalars.allSatisfy { $0.isASCII }, "\(screen)")
      #expect(screen.contains("+---"))
    }

    @Test(
      "the terminal is left as it was found",
      arguments: [nil, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGABRT] as [Int32?])
    func restored(number: Int32?) throws {
      let graph = try OfflineGraph(preset: "phone5")
      let tmux = try Tmux(home: graph.home, width: 80, height: 24)
      let folder = graph.home.folder.path
      try tmux.enter(
        "stty -g >\(folder)/before; sh -c 'echo $$ >\(folder)/pid; exec \"$PINNA\" monitor'; echo ended with $?; stty -g >\(folder)/after"
      )
      try tmux.wait(for: "LIVE")
      #expect(try tmux.isTaken())
      if let number {
        let pid = try String(contentsOfFile: "\(folder)/pid", encoding: .utf8).trimmingCharacters(
          in: .newlines)
        kill(try #require(Int32(pid)), number)
      } else {
        try tmux.press("q")
      }
      // The shell adds 128 to the signal of a crash.
      let isCrash = [SIGSEGV, SIGABRT].contains(number)
      try tmux.wait(for: "ended with \(isCrash ? 128 + number! : 0)")
      #expect(try !tmux.isTaken())
      #expect(
        waitUntil(seconds: 5) {
          let after = try? String(contentsOfFile: "\(folder)/after", encoding: .utf8)
          return after != nil && after == (try? String(contentsOfFile: "\(folder)/before", encoding: .utf8))
        })
    }

    @Test("a terminal that nobody reads holds up neither keys, nor Pinna, nor the end")
    func unread() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let terminal = try PseudoTerminal()
      terminal.resize(width: 80, height: 24)
      let program = try monitor(on: terminal, graph.home)
      // Frames of changing sizes fill the terminal's buffer.
      var (isLarge, fullFor) = (false, 0)
      let staysFull = waitUntil(seconds: 30, every: 100) {
        isLarge.toggle()
        terminal.resize(width: isLarge ? 200 : 80, height: isLarge ? 60 : 24)
        fullFor = terminal.isFull ? fullFor + 1 : 0
        return fullFor >= 10
      }
      #expect(staysFull)
      for (key, gain) in [("+", 1.0), ("+", 2), ("-", 1)] {
        terminal.press(key)
        #expect(try waitUntil(seconds: 2, every: 10) { try graph.status()["gainDB"] as? Double == gain })
      }
      #expect(terminal.isFull && program.isRunning)
      let start = ContinuousClock.now
      program.signal(SIGTERM)
      #expect(try #require(program.wait(seconds: 5)).status == 0)
      #expect(ContinuousClock.now - start < Faults.patience(.seconds(1)))
    }

    @Test("frames go on when a terminal is read again")
    func readAgain() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let terminal = try PseudoTerminal()
      terminal.resize(width: 200, height: 60)
      let program = try monitor(on: terminal, graph.home)
      defer { program.stop() }
      #expect(waitUntil(seconds: 10) { terminal.unread > 2000 })
      _ = waitUntil(seconds: 1) { terminal.isFull }
      terminal.press("+")
      #expect(try waitUntil(seconds: 2) { try graph.status()["gainDB"] as? Double == 1 })
      // Another size is drawn from nothing, so that its bytes hold the row as a whole.
      terminal.resize(width: 80, height: 24)
      var bytes: [UInt8] = []
      #expect(
        waitUntil(seconds: 5) {
          bytes += terminal.read()
          return String(decoding: bytes, as: UTF8.self).contains("+1.0 dB")
        })
    }

    private func monitor(on terminal: PseudoTerminal, _ home: PinnaHome, type: String = "xterm-256color")
      throws
      -> Program
    {
      try Program(
        "/bin/sh", ["-c", "exec \"$0\" monitor <\"$1\" >\"$1\"", try PinnaHome.binary(), terminal.path],
        environment: home.environment.merging(["TERM": type, "LANG": "C.UTF-8"]) { $1 })
    }

    @Test(
      "R54: on terminals of 1 × 1 to 65 535 × 65 535, changed, closed, dumb or under a crash, the monitor draws or says what it needs, ends, and leaves the terminal as it was",
      .long
    )
    func anyTerminal() throws {
      // No Pinna runs: the monitor says so, in a frame as large as any.
      let home = try PinnaHome()
      let sizes = [
        (1, 1), (2, 60_000), (60_000, 2), (79, 24), (80, 23), (80, 24), (32_767, 50), (32_768, 50),
        (50, 32_768),
        (60_000, 60_000), (65_535, 65_535),
      ]
      var (isKept, mostMegabytes) = (true, 0)
      func check(_ isSo: Bool, _ what: String) {
        #expect(isSo, "\(what)")
        isKept = isKept && isSo
      }
      for (n, size) in sizes.enumerated() {
        let terminal = try PseudoTerminal()
        let before = terminal.modes
        terminal.resize(width: size.0, height: size.1)
        let program = try monitor(on: terminal, home)
        var bytes: [UInt8] = []
        func shows(_ words: String) -> Bool {
          waitUntil(seconds: 10, every: 20) {
            bytes += terminal.read()
            return String(decoding: bytes, as: UTF8.self).contains(words) || !program.isRunning
          }
        }
        let isTooSmall = size.0 < 80 || size.1 < 24
        if size.0 >= 4 || !isTooSmall {
          check(shows(isTooSmall ? "need" : "PINNA") && program.isRunning, "\(size) is drawn")
        }
        check(waitUntil(seconds: 5) { terminal.modes != before }, "\(size) is raw")
        // Another size while it runs.
        let next = sizes[(n + 5) % sizes.count]
        terminal.resize(width: next.0, height: next.1)
        program.signal(SIGWINCH)
        _ = try waitUntil(seconds: 0.3, every: 20) {
          bytes += terminal.read()
          mostMegabytes = max(mostMegabytes, try Self.megabytes(program.pid))
          return false
        }
        // Every third crashes.
        let crashes = n % 3 == 2
        if crashes { program.signal(n % 2 == 0 ? SIGSEGV : SIGILL) } else { terminal.press("q") }
        let outcome = program.wait(seconds: 5)
        check(
          outcome != nil && (outcome?.status == 0) == !crashes,
          "\(size), then \(next): \(outcome?.status ?? -1)")
        check(terminal.modes == before, "\(size), then \(next): the terminal is as it was")
      }
      var terminal = try PseudoTerminal()
      let program = try monitor(on: terminal, home)
      check(waitUntil(seconds: 10) { terminal.unread > 0 }, "it draws")
      terminal = try PseudoTerminal()
      check(program.wait(seconds: 5) != nil, "a closed terminal ends it")
      check(
        try monitor(on: terminal, home, type: "dumb").wait(seconds: 5)?.status == 2,
        "a dumb terminal is refused")
      check(mostMegabytes <= 200, "\(mostMegabytes) MB")
      Faults.report(
        "R54", done: "\(sizes.count) sizes of 1 × 1 to 65 535 × 65 535, changed, crashed, closed, dumb",
        measured: "\(mostMegabytes) MB at most, \(isKept ? "all" : "not all") restored",
        limit: "each ended, restored, ≤ 200 MB", kept: isKept)
    }

    /// The most memory that a process had.
    private static func megabytes(_ pid: Int32) throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
      return try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) }) / 1024
    }

    @Test("without a terminal, or on one that cannot be drawn on, it is one sentence and status 2")
    func noTerminal() throws {
      let home = try PinnaHome()
      let outcome = try home.pinna("monitor")
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
      #expect(outcome.error.contains("terminal") && outcome.error.contains("pinna status"))
      let tmux = try Tmux(home: home, width: 120, height: 24)
      for type in ["dumb", "no-such-terminal"] {
        try tmux.enter("TERM=\(type) \"$PINNA\" monitor; echo status $? of \(type)")
        try tmux.wait(for: "status 2 of \(type)")
      }
      try tmux.wait(for: "cannot draw")
    }
  }
}
