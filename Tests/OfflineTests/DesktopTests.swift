import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// The entry of the desktop's menu, launched as desktops do, with a program in the place of the browser.
  @Suite(
    "The desktop entry",
    .enabled(
      if: ["xdg-open", "gio"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 },
      "xdg-open or gio is not installed (xdg-utils, libglib2.0-bin)"))
  struct DesktopTests {
    @Test("the entry opens the page of the running Pinna, with the token that lets its user in")
    func page() throws {
      let graph = try WebTests.graph()
      let desktop = try Desktop(home: graph.home)
      let visitor = try WebVisitor(graph)
      #expect(try desktop.launch() == "http://\(visitor.host)/?token=\(visitor.token)")
      #expect(try visitor.ask("GET", "/?token=\(visitor.token)", ["Cookie": ""]).status == 303)
      let typed = try desktop.pinna()
      #expect(typed.status == 0 && typed.output.isEmpty && typed.error.isEmpty, "\(typed)")
      #expect(waitUntil(seconds: 5) { desktop.opened.count == 2 })
    }

    @Test(
      "the file with the page's address is the user's alone; it goes with the page, and is never an earlier one's"
    )
    func addressFile() throws {
      let graph = try WebTests.graph()
      let path = graph.home.runtimeFolder + "/pinna/pinna.web"
      func mode() -> mode_t? {
        var file = stat()
        return lstat(path, &file) == 0 ? file.st_mode : nil
      }
      #expect(mode() == S_IFREG | 0o600)
      kill(try #require(try graph.webProcess()).pid, SIGKILL)
      #expect(waitUntil(seconds: 5) { mode() == nil })
      try #require(try graph.pinna("stop").status == 0)
      try #require(graph.program.wait(seconds: 10) != nil)
      try graph.restart()
      #expect(mode() == S_IFREG | 0o600)
      graph.program.signal(SIGKILL)
      try #require(graph.program.wait(seconds: 10) != nil)
      #expect(mode() != nil)
      let desktop = try Desktop(home: graph.home)
      #expect(try desktop.pinna("--name", "pinna2").status == 4)
      let program = try graph.home.start(["--server", graph.server.name], graph.server.environment)
      try #require(
        try waitUntil(seconds: 30) { try graph.pinna("status").status == 0 }, "\(program.errorText)")
      #expect(mode() == nil)
      #expect(try graph.pinna("stop").status == 0)
    }

    @Test("a running Pinna that serves no page serves one when it is asked for, and keeps it")
    func withoutPage() throws {
      let graph = try OfflineGraph(preset: "phone5")
      let desktop = try Desktop(home: graph.home)
      for n in 1...2 {
        let typed = try desktop.pinna()
        #expect(typed.status == 0, "\(typed)")
        #expect(desktop.opened.count == n && Set(desktop.opened).count == 1, "\(desktop.opened)")
      }
      let visitor = try WebVisitor(graph)
      #expect(desktop.opened.first?.contains(visitor.token) == true)
      #expect(try visitor.ask("GET", "/").status == 200)
    }

    @Test("without a Pinna and without systemd, one sentence says how to start it")
    func withoutSystemd() throws {
      let home = try PinnaHome()
      var desktop = try Desktop(home: home)
      let typed = try desktop.pinna()
      #expect(typed.status == 4 && typed.isOneSentence, "\(typed)")
      #expect(typed.error.contains("systemd cannot start one (") && typed.error.contains("pinna run --web 0"))
      #expect(
        try String(contentsOfFile: desktop.launch(), encoding: .utf8).contains("systemd cannot start one ("))
      let alone = try desktop.pinna("--name", "other")
      #expect(alone.status == 4 && alone.error.contains("pinna run --name other"), "\(alone)")
      let other = try Program.run(
        try PinnaHome.binary(), ["monitor", "--desktop"], environment: desktop.environment)
      #expect(other.status == 2 && other.isOneSentence, "\(other)")
      desktop.environment["PATH"] = "/nowhere"
      let bare = try desktop.pinna()
      #expect(bare.status == 4 && bare.error.contains("(systemctl is missing)"), "\(bare)")
    }

    @Test("where no browser is found, the address is said; without xdg-open, too")
    func withoutBrowser() throws {
      let graph = try WebTests.graph()
      var desktop = try Desktop(home: graph.home)
      let visitor = try WebVisitor(graph)
      let folder = graph.home.folder.path + "/bin"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      desktop.environment["PATH"] = folder
      for (says, part) in [("", "xdg-open is missing"), ("#!/bin/sh\nexit 3\n", "has found no browser")] {
        if !says.isEmpty { chmod(try graph.home.folder.write(says, to: "bin/xdg-open"), 0o755) }
        let outcome = try desktop.pinna()
        #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains(part), "\(outcome)")
        #expect(outcome.error.contains("http://\(visitor.host)/?token=\(visitor.token)"))
      }
    }

    static let hasDisplay = ["Xvfb", "chromium"].allSatisfy { access("/usr/bin/" + $0, X_OK) == 0 }

    @Test(
      "under Xvfb, Chromium is the browser: the entry opens the page, which shows this Pinna",
      .enabled(if: hasDisplay, "needs the Debian packages xvfb and chromium"))
    func chromium() throws {
      let graph = try WebTests.graph()
      let folder = graph.home.folder.path
      let display = ":\(100 + Int(getpid()) % 400)"
      let screen = try Program(
        "/usr/bin/Xvfb", [display, "-screen", "0", "1280x1000x24", "-nolisten", "tcp"])
      defer { screen.stop() }
      let socket = "/tmp/.X11-unix/X" + display.dropFirst()
      try #require(
        waitUntil(seconds: 10) { FileManager.default.fileExists(atPath: socket) }, "\(screen.errorText)")
      var desktop = try Desktop(
        home: graph.home,
        browser: """
          echo $$ >'\(folder)/browser.pid'
          exec /usr/bin/chromium --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --mute-audio \\
            --password-store=basic --window-size=1260,980 --remote-debugging-port=0 --user-data-dir='\(folder)/chromium' "$1"

          """)
      desktop.environment["DISPLAY"] = display
      _ = try desktop.launch(seconds: 60)
      defer {
        let pid = (try? String(contentsOfFile: folder + "/browser.pid", encoding: .utf8)) ?? ""
        if let pid = pid_t(pid.filter(\.isNumber)) { kill(pid, SIGTERM) }
      }
      let tools = folder + "/chromium/DevToolsActivePort"
      // The file is there before its first line is.
      var port: UInt16?
      _ = waitUntil(seconds: 60, every: 100) {
        port = (try? String(contentsOfFile: tools, encoding: .utf8))?.split(separator: "\n").first.flatMap {
          UInt16($0)
        }
        return port != nil
      }
      let inspector = WebVisitor(port: try #require(port), token: "")
      let address = "http://\(try WebVisitor(graph).host)/"
      func pages() throws -> [[String: Any]] {
        let text = try inspector.another.ask("GET", "/json/list").body
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
      }
      // The token is gone from the address by then: the cookie was taken.
      #expect(
        try waitUntil(seconds: 60, every: 200) {
          try pages().contains {
            $0["url"] as? String == address && ($0["title"] as? String)?.contains("Pinna") == true
          }
        }, "\((try? pages()) ?? [])")
      if let picture = ProcessInfo.processInfo.environment["PINNA_WEB_PICTURES"] {
        sleep(5)
        _ = try Program.run(
          "/usr/bin/ffmpeg",
          [
            "-y", "-f", "x11grab", "-video_size", "1280x1000", "-i", display, "-frames:v", "1",
            picture + "/entry.png",
          ])
      }
    }
  }
}
