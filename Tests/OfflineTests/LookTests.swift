import AudioFiles
import Foundation
import LiveSupport
import Messages
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Looks in a run") struct LookTests {
    @Test(
      "a look is heard within 1.5 s of its first mention, and a take of looks is rendered again bit for bit")
    func takes() throws {
      let graph = try OfflineGraph(preset: "ring7", captures: 7)
      let began = ContinuousClock.now
      let set = try graph.pinna("set", "--look", "60", "--json")
      let took = ContinuousClock.now - began
      try #require(set.status == 0, "\(set)")
      #expect(try set.json()["look"] as? [Double] == [60, 0])
      #expect(try set.json()["polarPattern"] as? String == "cardioid")
      #expect(took < .milliseconds(1500), "\(took)")
      try #require(
        try graph.pinna("feed", "add", "ben", "--look", "-60,10", "--pattern", "supercardioid").status == 0)
      try graph.play(Self.noise)
      let path = try graph.startTake("--feeds", "all")
      #expect(try graph.pinna("set", "--look", "0").status == 5)
      try graph.waitForTake(frames: 14_400)
      try graph.stopTake(path)
      let folder = graph.home.folder.path + "/again"
      let render = try graph.pinna("render", "--force", path, "--into", folder)
      try #require(render.status == 0, "\(render)")
      let main = try AudioClip(path: path)
      #expect(main.channels[0].count > 4800 && main.channels[0].contains { $0 != 0 })
      #expect(try AudioClip(path: folder + "/main.wav").channels == [main.channels[0]])
      let ben = try AudioClip(path: "\(path.dropLast(4))-ben.wav")
      #expect(try AudioClip(path: folder + "/ben.wav").channels == ben.channels)
      #expect(ben.channels[0].contains { $0 != 0 } && ben.channels[0] != main.channels[0])
    }

    @Test("R59: looks at 20 a second cost at most four threads and 250 MB, and delay no answer")
    func flood() throws {
      let seconds = Faults.number("PINNA_FLOOD_SECONDS", quick: 4, heavy: 60)
      let graph = try OfflineGraph(preset: "ring7", options: ["--osc-port", "0"], captures: 7)
      let client = ControlClient(name: "pinna", environment: graph.home.environment)
      let sender = try graph.udpSender(feedback: nil)
      func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(graph.program.pid)/task").count
      }
      let (before, memory) = (try threads(), try graph.program.residentMemory())
      // In kB.
      var (n, most, grown, slowest) = (0, 0, 0, Duration.zero)
      let end = ContinuousClock.now + .seconds(seconds)
      while .now < end {
        n += 1
        sender.send("/pinna/set/look", .string("\(n * 7 % 360 - 180)"))
        let asked = ContinuousClock.now
        _ = try client.request(OSCMessage("/pinna/status"))
        slowest = max(slowest, .now - asked)
        most = max(most, try threads() - before)
        grown = max(grown, try graph.program.residentMemory() - memory)
        usleep(50_000)
      }
      #expect(most <= 4 && grown <= 250 << 10 && slowest <= Faults.patience(.milliseconds(100)))
      Faults.report(
        "R59", done: "looks at 20 a second for \(Int(seconds)) s",
        measured: "\(most) threads, \(grown >> 10) MB, \(slowest)", limit: "4, 250 MB, 100 ms",
        kept: most <= 4 && grown <= 250 << 10 && slowest <= .milliseconds(100))
    }

    /// Seven microphones.
    private static let noise: [[Float]] = SeededNoise.channels(7, 24_000, amplitude: 0.1, seed: 40)
  }
}
