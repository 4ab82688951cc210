import AudioFiles
import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  /// netjack2: the sound card is on another machine than Pinna.
  @Suite(
    "JACK servers on two machines",
    .enabled(if: NetGraph.obstacle == nil, "\(NetGraph.obstacle ?? "")"))
  struct NetTests {
    static let arguments = ["--wait", "10", "--preset", "phone5", "--connect"]

    /// Pinna on the slave, connected to the ports that stand for the master's sound card.
    func start(_ home: PinnaHome, _ net: NetGraph) throws -> Program {
      let program = try home.start(["--server", net.slave] + Self.arguments)
      let isAnswering = try waitUntil(seconds: 30, every: 50) {
        try home.pinna("set", "--data-source", "front", "--pattern", "cardioid").status == 0
      }
      guard isAnswering else { throw SupportError("pinna does not answer: \(program.errorText)") }
      return program
    }

    /// Plays 440 Hz on the master's side and records what comes back from the slave.
    func roundTrip(_ net: NetGraph, rate: Int) throws -> [Float] {
      let player = try SignalPlayer(
        name: "player", server: net.master, channels: PipeWireTests.tone(rate: rate), repeats: true)
      let recorder = try SignalRecorder(
        name: "recorder", server: net.master, channels: 2, capacityFrames: rate * 3)
      let slave = NetGraph.clientName
      try #require(player.connect(to: (1...5).map { "\(slave):to_slave_\($0)" }))
      try #require(recorder.connect(from: ["\(slave):from_slave_1", "\(slave):from_slave_2"]))
      player.start()
      try recorder.wait(frames: rate * 5 / 2)
      return Array(recorder.everything[0].dropFirst(rate / 2))
    }

    /// The frequency of a sine, from the median of its cycles: on a busy machine the servers miss periods, which breaks
    /// some of them.
    func frequency(_ signal: [Float], rate: Int) -> Double {
      var zeros: [Double] = []
      for n in signal.indices.dropFirst() where signal[n - 1] < 0 && signal[n] >= 0 {
        zeros.append(Double(n) - Double(signal[n] / (signal[n] - signal[n - 1])))
      }
      let cycles = zip(zeros.dropFirst(), zeros).map { $0 - $1 }.sorted()
      return cycles.isEmpty ? 0 : Double(rate) / cycles[cycles.count / 2]
    }

    func record(_ home: PinnaHome, frames: Int) throws -> String {
      let start = try home.pinna("record", "start", "--json")
      let path = try #require(try start.json()["take"] as? String, "\(start)")
      try home.waitForTake(frames: frames)
      return path
    }

    @Test("the commands on the page about several machines are those that are tested here")
    func page() throws {
      let page = try String(contentsOfFile: repositoryFolder + "/docs/netjack.md", encoding: .utf8)
      #expect(page.contains("\njack_load netmanager -i \"\(NetGraph.managerArguments)\"\n"))
      #expect(page.contains("\njackd \(NetGraph.driverArguments) &\n"))
      #expect(page.contains("\npinna run \(Self.arguments.joined(separator: " "))\n"))
    }

    @Test(
      "R34: sound goes to the slave and back, and Pinna follows a master that comes back at another rate",
      .nightly)
    func net() throws {
      let home = try PinnaHome()
      #expect(try home.pinna("design", "phone5", "--sample-rate", "44100").status == 0)
      let net = try NetGraph(sampleRate: 48000, period: 256)
      let program = try start(home, net)
      func status() throws -> [String: Any] { try home.pinna("status", "--json").json() }
      func expectTone(rate: Int, _ done: String) throws {
        let back = try roundTrip(net, rate: rate)
        let frequency = frequency(back, rate: rate)
        let level = 10 * log10(back.reduce(0) { $0 + Double($1 * $1) } / Double(back.count))
        let connections = try net.connections
        #expect(
          abs(frequency - 440) < 0.1 && level > -40,
          "\(frequency) Hz, \(level) dBFS; \(connections) \(program.errorText)")
        Faults.report(
          "R34", done: "netjack2, \(done): 440 Hz to the slave and back reads",
          measured: String(format: "%.3f Hz", frequency), limit: "440 ± 0.1 Hz",
          kept: abs(frequency - 440) < 0.1)
      }
      #expect(try net.isConnectedToSoundCard)
      let before = try status()
      #expect(before["sampleRate"] as? Int == 48000 && before["period"] as? Int == 256, "\(before)")
      try expectTone(rate: 48000, "master at 48 kHz")
      let path = try record(home, frames: 24_000)
      try net.killMaster()
      try #require(try waitUntil(seconds: 10) { try status()["server"] as? String == "stalled" })
      try net.startMaster(sampleRate: 44100, period: 512)
      try net.awaitSlave()
      let start = ContinuousClock.now
      try #require(
        try waitUntil(seconds: 20) {
          let now = try status()
          return now["server"] as? String == "running" && now["sampleRate"] as? Int == 44100
            && now["period"] as? Int == 512
        }, "\(program.errorText)")
      let took = ContinuousClock.now - start
      #expect(took < Faults.patience(.seconds(1)), "\(took)")
      Faults.report(
        "R34", done: "netjack2, master back at 44.1 kHz: filters in force", took: took, limit: .seconds(1))
      let stop = try home.pinna("record", "stop")
      #expect(
        [3, 7].contains(stop.status) && stop.error.contains("the sample rate changed from 48000 to 44100 Hz"),
        "\(stop)")
      #expect(try AudioClip(path: path).sampleRate == 48000)
      let events = try TakeFiles.sidecar(path).events.map(\.what)
      #expect(events.contains { $0.contains("no periods reached Pinna") }, "\(events)")
      try expectTone(rate: 44100, "master back at 44.1 kHz")
      let second = try record(home, frames: 24_000)
      #expect(try [0, 7].contains(home.pinna("record", "stop").status))
      #expect(try AudioClip(path: second).sampleRate == 44100)
      #expect(try home.pinna("stop").status == 0)
      withExtendedLifetime(program) {}
    }
  }
}
