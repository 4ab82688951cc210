import Foundation
import LiveSupport
import TestSupport
import Testing
import Threads

extension OfflineTests {
  /// What strangers, other users of the machine and hostile clients reach of the page: R24.
  @Suite("The web page and strangers") struct WebSecurityTests {
    @Test(
      "R24: foreign Host and Origin, DNS rebinding, cross-site posts and other users get 403, and change nothing"
    )
    func foreign() throws {
      let graph = try WebTests.graph()
      let visitor = try WebVisitor(graph)
      let port = visitor.port
      let gain = #"{"method":"/pinna/set","arguments":["gain","-9"]}"#
      let foreign: [[String: String]] = [
        ["Host": "127.attacker.example:\(port)"], ["Host": "attacker.example"], ["Host": "127.0.0.1"],
        ["Host": "localhost:\(port == 1 ? 2 : port - 1)"], ["Host": "127.0.0.1.attacker.example:\(port)"],
        // A rebound name is of one origin with itself.
        ["Host": "attacker.example:\(port)", "Origin": "http://attacker.example:\(port)"],
        ["Origin": "http://attacker.example"], ["Origin": "null"], ["Origin": "https://127.0.0.1:\(port)"],
        ["Origin": "http://localhost:\(port)"], ["Origin": "http://127.0.0.1:\(port == 1 ? 2 : port - 1)"],
        ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
        // Another local user knows neither token nor cookie.
        ["Cookie": ""], ["Cookie": "pinna-\(port)=\(String(repeating: "0", count: 40))"],
        ["Cookie": "pinna-\(port)="], ["Cookie": "pinna=\(visitor.token)"],
      ]
      var (count, refused) = (0, 0)
      func expectRefusal(_ response: WebVisitor.Response, _ what: String) {
        count += 1
        if response.status == 403 { refused += 1 }
        #expect(response.status == 403, "\(what): \(response)")
      }
      for headers in foreign {
        expectRefusal(try visitor.another.ask("POST", "/control", headers, body: gain), "POST \(headers)")
        for path in ["/", "/events", "/device", "/takes", "/page.js"] {
          expectRefusal(try visitor.another.ask("GET", path, headers), "\(path) \(headers)")
        }
      }
      for path in [
        "/?token=", "/?token=\(String(repeating: "f", count: 40))", "/events?token=\(visitor.token)",
      ] {
        expectRefusal(try visitor.another.ask("GET", path, ["Cookie": ""]), path)
      }
      // What a form of another page could send, if a browser let it.
      for type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        #expect(
          try visitor.another.ask("POST", "/control", ["Content-Type": type], body: gain).status == 415)
      }
      #expect(try visitor.another.ask("GET", "/control?method=/pinna/set&arguments=gain").status == 404)
      let status = try graph.status()
      #expect(status["gainDB"] as? Double == 0)
      // Nor does the command line of the web process tell the token.
      let process = try #require(try graph.webProcess())
      #expect(!process.words.contains { $0.contains(visitor.token) })
      #expect(try visitor.control("/pinna/set", "gain", "-9").status == 200)
      #expect(try graph.status()["gainDB"] as? Double == -9)
      Faults.report(
        "R24", done: "foreign Host, Origin, site, cookie or token",
        measured: "\(refused) of \(count) are 403",
        limit: "all", kept: refused == count && status["gainDB"] as? Double == 0)
    }

    @Test("R24: the page listens on 127.0.0.1 only, and its port is closed when Pinna ends, killed or not")
    func loopback() throws {
      for signal in [SIGTERM, SIGKILL] {
        let graph = try WebTests.graph()
        let visitor = try WebVisitor(graph)
        let number = String(visitor.port, radix: 16, uppercase: true)
        let port = String(repeating: "0", count: 4 - number.count) + number
        let sockets = ["tcp", "tcp6"].flatMap {
          (SmallFile.text("/proc/net/\($0)") ?? "").split(separator: "\n").map {
            $0.split(separator: " ")
          }
        }
        // State 0A is LISTEN.
        let listening = sockets.filter { $0.count > 3 && $0[1].hasSuffix(":" + port) && $0[3] == "0A" }.map {
          String($0[1])
        }
        let isLoopback = listening == ["0100007F:" + port]
        #expect(isLoopback, "\(listening)")
        #expect(visitor.connect())
        graph.program.signal(signal)
        let isClosed = waitUntil(seconds: Faults.areHeavy ? 3 : 20) { !visitor.another.connect() }
        #expect(isClosed)
        Faults.report(
          "R24", done: "listens on 127.0.0.1 alone, until Pinna ends by signal \(signal)",
          measured: isLoopback && isClosed ? "yes" : "no", limit: "yes", kept: isLoopback && isClosed)
      }
    }

    @Test(
      "R24: another user is not connected at all, not even with the token; its user is",
      .enabled(if: getuid() == 0, "only root can become another user"))
    func otherUser() throws {
      let graph = try WebTests.graph()
      let visitor = try WebVisitor(graph)
      let ask = """
        exec 3<>/dev/tcp/127.0.0.1/\(visitor.port) || exit
        printf 'GET /?token=\(visitor.token) HTTP/1.1\\r\\nHost: \(visitor.host)\\r\\nConnection: close\\r\\n\\r\\n' >&3
        cat <&3
        """
      let own = try Program.run("/bin/bash", ["-c", ask])
      #expect(own.output.hasPrefix("HTTP/1.1 303 "), "\(own)")
      let stranger = ["--reuid=65534", "--regid=65534", "--clear-groups", "/bin/bash", "-c"]
      var answers = 0
      for _ in 0..<20 {
        let other = try Program.run("/usr/bin/setpriv", stranger + [ask])
        if !other.output.isEmpty { answers += 1 }
      }
      #expect(answers == 0)
      // Nor can they take the places of others.
      let crowd = try Program(
        "/usr/bin/setpriv",
        stranger + [
          "for n in {10..200}; do eval \"exec $n<>/dev/tcp/127.0.0.1/\(visitor.port)\"; done; echo all; sleep 20"
        ])
      try #require(waitUntil(seconds: 20) { crowd.outputText.contains("all") })
      #expect(try visitor.another.ask("GET", "/").status == 200)
      crowd.stop()
      Faults.report(
        "R24", done: "another user asks 20 times with the token: answers", measured: "\(answers)", limit: "0",
        kept: answers == 0)
    }

    @Test(
      "R24: too many requests, bodies that are too long, and malformed ones are refused; the page goes on",
      .long)
    func limits() throws {
      var graph = try WebTests.graph()
      var visitor = try WebVisitor(graph)
      // A connection, and all of them together: so many at once, then so many a second.
      for (isOne, burst, rate) in [(true, 120.0, 60.0), (false, 200.0, 100.0)] {
        if !isOne {
          graph = try WebTests.graph()
          visitor = try WebVisitor(graph)
        }
        let start = ContinuousClock.now
        var (served, refused) = (0, 0)
        while refused == 0, .now - start < .seconds(10) {
          // Fifty are allowed to any connection.
          if !isOne, served % 50 == 0 { visitor.close() }
          if try visitor.ask("GET", "/icon.svg").status == 200 { served += 1 } else { refused += 1 }
        }
        let most = burst + rate * ((.now - start) / .seconds(1)) + 1
        #expect(refused == 1 && Double(served) >= burst / 2 && Double(served) <= most, "\(served) of \(most)")
      }
      #expect(try waitUntil(seconds: 10, every: 50) { try visitor.ask("GET", "/icon.svg").status == 200 })
      // Requests without the cookie never use up those of the page's owner. A hundred at once, which many processes beside
      // this one do not slow down to what is allowed.
      var (strangers, kept) = ([Int](), 0)
      _ = try waitUntil(seconds: 30) {
        let crowd = (0..<100).map { _ in visitor.another }
        for stranger in crowd { try stranger.send("GET", "/", ["Cookie": ""]) }
        for stranger in crowd { strangers.append(try stranger.response().status) }
        if try visitor.another.ask("GET", "/icon.svg").status == 200 { kept += 1 } else { kept = .min }
        return strangers.contains(429)
      }
      #expect(kept > 0 && Set(strangers) == [403, 429], "\(kept), \(Set(strangers))")
      let long = String(repeating: " ", count: 5000)
      #expect(try visitor.another.ask("POST", "/control", body: long).status == 413)
      for body in [
        "", "{", "[]", #"{"method":"/pinna/stop"}"#,
        #"{"method":"/pinna/record/start","arguments":["/tmp"]}"#,
      ] {
        #expect(try visitor.another.ask("POST", "/control", body: body).status == 400, "\(body)")
      }
      // The strangers have used up what is refused in a second.
      let isRefused = try waitUntil(seconds: 10, every: 50) {
        try visitor.another.ask("PUT", "/control", body: "{}").status == 405
      }
      #expect(isRefused)
      // Not HTTP at all.
      for text in [
        "\0\0\0\0", "GET", String(repeating: "x", count: 100_000), "GET / HTTP/1.1\r\nHost:\r\n\r\n",
      ] {
        let stranger = visitor.another
        try #require(stranger.connect())
        try? stranger.send(text, "/")
      }
      #expect(try visitor.another.ask("GET", "/").status == 200)
      #expect(try graph.status()["state"] as? String == "stopped")
    }

    @Test("R24: nothing but regular sound files of the takes folder is served")
    func names() throws {
      let graph = try WebTests.graph()
      let visitor = try WebVisitor(graph)
      let folder = graph.home.takesFolder
      try FileManager.default.createDirectory(
        atPath: folder + "/folder.wav", withIntermediateDirectories: true)
      try Data("RIFF".utf8).write(to: URL(filePath: folder + "/../secret.wav"))
      try Data("RIFF".utf8).write(to: URL(filePath: folder + "/own.wav"))
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link.wav", withDestinationPath: folder + "/../secret.wav")
      mkfifo(folder + "/pipe.wav", 0o600)
      #expect(try visitor.ask("GET", "/takes/own.wav").body == "RIFF")
      let names = [
        "link.wav", "pipe.wav", "folder.wav", "../secret.wav", "..%2fsecret.wav", "%2e%2e/secret.wav", "..",
        "%2fetc%2fpasswd", "/etc/passwd", "folder.wav/../../secret.wav", "", ".", "own.json", "own.wav%00",
        "own.wav%2f",
      ]
      var served: [String] = []
      for name in names {
        let response = try visitor.another.ask("GET", "/takes/" + name)
        // A zero byte ends the name: it is the take of the folder itself.
        if try visitor.another.ask("GET", "/talkers/" + name).status != 404 {
          served.append("talkers of " + name)
        }
        if response.status != 404, !(name == "own.wav%00" && response.body == "RIFF") { served.append(name) }
      }
      #expect(served == [])
      Faults.report(
        "R24", done: "\(names.count) names of files outside the takes folder, links, pipes and folders",
        measured: "\(served.count) served", limit: "0", kept: served.isEmpty)
    }
  }
}
