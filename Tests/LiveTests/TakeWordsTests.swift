import Foundation
import JackTools
import LiveSupport
import Recording
import TestSupport
import Testing

extension LiveTests {
  /// With other clients; the others need none: `OfflineTests`.
  @Suite("Messages about takes among other clients") struct TakeWordsTests {
    static let noise: [[Float]] = SeededNoise.channels(5, 48_000, amplitude: 0.25, seed: 21)

    func warnings(_ graph: LiveGraph) throws -> [String] {
      try #require(try graph.status()["warnings"] as? [String])
    }

    @Test("a take whose sources all left says so when it is stopped")
    func sourcesGo() throws {
      let graph = try LiveGraph(preset: "phone5", period: 1024, synchronous: true)
      var player: SignalPlayer? = try graph.player(Self.noise, repeats: true)
      player?.start()
      try graph.waitForLook()
      let path = try graph.startTake(frames: 24_000)
      player = nil
      #expect(try waitUntil(seconds: 2) { try warnings(graph).count { $0.contains("has lost") } == 5 })
      let stop = try graph.pinna("record", "stop")
      let name = URL(filePath: path).lastPathComponent.replacing(".wav", with: ".json")
      let lost = "; 5 microphones lost their source during the take: "
      // PipeWire may leave out the period in which a client goes: then the take is incomplete, and the words the same.
      let told = stop.output + (LiveGraph.isPipeWire ? stop.error : "")
      let isExpected = stop.status == 0 || LiveGraph.isPipeWire && stop.status == 7
      #expect(isExpected && told.contains(lost), "\(stop)")
      #expect(told.hasSuffix("; see \(name)\n"), "\(stop)")
    }
  }
}
