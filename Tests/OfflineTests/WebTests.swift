import Foundation
import LiveSupport
import TestSupport
import Testing

extension OfflineTests {
  /// The web page of a running Pinna, over real HTTP.
  @Suite("The web page in a live graph") struct WebTests {
    static func graph() throws -> OfflineGraph {
      try OfflineGraph(preset: "phone5", period: 1024, options: ["--web", "0"])
    }

    @Test("the first visit gets the cookie, and the page with its policy; every answer forbids more")
    func visit() throws {
      let graph = try Self.graph()
      let visitor = try WebVisitor(graph)
      let first = try visitor.ask("GET", "/?token=\(visitor.token)", ["Cookie": ""])
      #expect(first.status == 303 && first.headers["location"] == "/")
      #expect(
        first.headers["set-cookie"] == "\(visitor.cookie); Path=/; HttpOnly; SameSite=Strict", "\(first)")
      for path in [
        "/", "/page.css", "/page.js", "/controls.js", "/drawings.js", "/feeds.js", "/looks.js", "/poses.js",
        "/takes.js",
        "/icon.svg",
      ] {
        let page = try visitor.ask("GET", path)
        #expect(page.status == 200 && page.body.count > 100, "\(path)")
        #expect(page.headers["content-security-policy"]?.hasPrefix("default-src 'none'; ") == true)
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(
          page.headers["referrer-policy"] == "no-referrer" && page.headers["cache-control"] == "no-store")
        // Nothing from elsewhere, nothing inline.
        let isFree = !page.body.contains(/(src|href)="https?:|style=|<style|on(click|load)=|<script>/)
        #expect(isFree, "\(path)")
      }
      #expect(try visitor.ask("GET", "/nothing").status == 404)
      let device = try visitor.ask("GET", "/device").json()
      #expect((device["microphones"] as? [Any])?.count == 5)
      let curves = try visitor.ask("GET", "/curves").json()
      #expect((curves["levels"] as? [[[Double]]])?.first?.count == 2)
      try #require(try graph.pinna("feed", "add", "anna", "--format", "mono").status == 0)
      let mono = try visitor.ask("GET", "/curves/anna").json()
      #expect((mono["levels"] as? [[[Double]]])?.first?.count == 1)
      // Where the feed looks, forward of the data source is at 0°.
      try #require(try graph.pinna("set", "--feed", "anna", "--look", "90").status == 0)
      let aside = try visitor.ask("GET", "/curves/anna").json()
      let azimuths = try #require(aside["azimuths"] as? [Double])
      let targets = try #require(aside["targetLevels"] as? [[[Double]]])
      #expect(targets.allSatisfy { $0[0][azimuths.firstIndex(of: 90)!] == 0 })
      let picture = try visitor.ask("GET", "/device/anna").json()["picture"] as? String
      #expect(picture?.contains("no left and right") == true)
      for path in ["/curves/ben", "/device/ben"] { #expect(try visitor.ask("GET", path).status == 400) }
      #expect(graph.program.isRunning)
    }

    @Test(
      "during a take every control is refused with the take's name; afterwards its file can be played in parts, and is listed first among the newest hundred"
    )
    func takes() throws {
      let graph = try Self.graph()
      let visitor = try WebVisitor(graph)
      let started = try visitor.control("/pinna/record/start")
      let path = try #require(try started.json()["take"] as? String)
      for pair in [
        ["gain", "-3"], ["pattern", "cardioid"], ["mute", "on"], ["orientation", "landscapeLeft"],
      ] {
        let refusal = try visitor.control("/pinna/set", pair[0], pair[1])
        #expect(refusal.status == 409)
        #expect(try (refusal.json()["reason"] as? String)?.contains(path) == true, "\(refusal)")
      }
      try graph.waitForTake(frames: 9600)
      #expect(try visitor.control("/pinna/record/stop").status == 200)
      #expect(try visitor.control("/pinna/set", "gain", "-3").status == 200)
      let name = URL(filePath: path).lastPathComponent
      let listed = try visitor.ask("GET", "/takes").json()["takes"] as? [[String: Any]]
      #expect(listed?.map { $0["name"] as? String } == [name])
      let part = try visitor.ask("GET", "/takes/\(name)", ["Range": "bytes=0-3"])
      #expect(part.status == 206 && part.body == "RIFF" && part.headers["content-type"] == "audio/wav")
      let size = try #require(
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
      #expect(part.headers["content-range"] == "bytes 0-3/\(size)")
      #expect(try visitor.ask("GET", "/takes/\(name)", ["Range": "bytes=\(size)-"]).status == 416)
      for number in 100..<200 {
        for ending in ["wav", "json"] {
          try FileManager.default.linkItem(
            atPath: path.replacing(".wav", with: ".\(ending)"),
            toPath: "\(graph.home.takesFolder)/1999-\(number).\(ending)")
        }
      }
      let newest = try visitor.ask("GET", "/takes").json()["takes"] as? [[String: Any]]
      #expect(
        newest?.map { $0["name"] as? String } == [name] + (101..<200).reversed().map { "1999-\($0).wav" })
    }

    @Test(
      "a file that becomes shorter while it is sent ends its connection, and costs no processor time afterwards"
    )
    func shrinking() throws {
      let graph = try Self.graph()
      let visitor = try WebVisitor(graph)
      let folder = graph.home.takesFolder
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let path = folder + "/long.wav"
      try Data(count: 30_000_000).write(to: URL(filePath: path))
      let reader = visitor.another
      try #require(reader.connect(receiveBuffer: 2048))
      try reader.send("GET", "/takes/long.wav")
      try #require(reader.hasAnswer(seconds: 10))
      try #require(truncate(path, 1_000_000) == 0)
      // Its answer says 30 MB.
      #expect(throws: SupportError.self) { try reader.response() }
      let pid = try #require(try graph.webProcess()).pid
      let before = try Self.processorTime(pid)
      // A second.
      try graph.wait(frames: 8 * 48_000)
      #expect(try Self.processorTime(pid) - before < 0.2)
      #expect(try visitor.ask("GET", "/takes").status == 200)
    }

    @Test("a web process that is killed leaves nothing behind, and Pinna says how to have the page back")
    func killed() throws {
      let graph = try Self.graph()
      let pid = try #require(try graph.webProcess()).pid
      kill(pid, SIGKILL)
      #expect(
        graph.says("the web page's process has ended; to have it back, run"),
        "\(graph.program.errorText)")
      // A process that nobody has waited for would still be there.
      #expect(waitUntil(seconds: 2) { !FileManager.default.fileExists(atPath: "/proc/\(pid)") })
      #expect(try graph.status()["state"] as? String == "stopped")
    }

    /// Of a process so far, in seconds.
    static func processorTime(_ pid: Int32) throws -> Double {
      let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
      let fields = stat[stat.index(after: stat.lastIndex(of: ")")!)...].split(separator: " ")
      return (Double(fields[11])! + Double(fields[12])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    @Test("two pages and the command line agree within 200 ms")
    func agreement() throws {
      let graph = try Self.graph()
      let visitor = try WebVisitor(graph)
      let pages = [visitor.another, visitor.another]
      for page in pages {
        try page.send("GET", "/events")
        #expect(page.hears(#""gainDB":0"#, seconds: 5))
      }
      var slowest = Duration.zero
      for n in 1...10 {
        let isFromPage = n % 2 == 0
        if isFromPage {
          #expect(try visitor.control("/pinna/set", "gain", "-\(n)").status == 200)
        } else {
          #expect(try graph.pinna("set", "--gain", "-\(n)").status == 0)
        }
        let start = ContinuousClock.now
        for page in pages { #expect(page.hears(#""gainDB":-\#(n)"#, seconds: 5), "\(n)") }
        slowest = max(slowest, .now - start)
        #expect(try graph.status()["gainDB"] as? Double == Double(-n))
      }
      print("two pages agree after \(slowest)")
      #expect(slowest < Faults.patience(.milliseconds(200)))
      #expect(pages.allSatisfy { $0.hears("event: levels", seconds: 2) })
    }

    @Test("a port in use, and a number that is no port, get one sentence and the documented status")
    func ports() throws {
      let graph = try Self.graph()
      let port = try WebVisitor(graph).port
      for (word, status, part) in [
        ("\(port)", 1, "cannot serve the web page on 127.0.0.1:\(port): Address already in use"),
        ("banana", 2, "--web"), ("65536", 2, "--web"), ("-1", 2, "--web"),
      ] {
        let server = try OfflineServer(home: graph.home)
        let second = try graph.home.start(
          ["--name", "second", "--server", server.name, "--web", word], server.environment)
        let outcome = try #require(second.wait(seconds: 20))
        #expect(
          outcome.status == status && outcome.isOneSentence && outcome.error.contains(part), "\(outcome)")
      }
      let silent = try OfflineGraph(preset: "phone5")
      #expect(throws: SupportError.self) { try WebVisitor(silent) }
      #expect(try silent.webProcess() == nil)
    }
  }
}
