import CJack
import Foundation
import JackClient
import LiveSupport
import Realtime
import Synchronization
import TestSupport
import Testing

extension LiveTests {
  /// The JACK client alone, in this process, on PipeWire.
  @Suite(
    "Latencies and requests on PipeWire",
    .enabled(if: LiveGraph.isPipeWire, "libjack is JACK2's: run the tests with pw-jack for PipeWire"))
  struct PipeWireLatencyTests {
    /// Without the care described at `ClientHandle.handleLatency`, libjack 0.3.65 crashes or hangs within seconds.
    @Test(
      "R35: connections are requested while latencies change: no request fails, and the last latency arrives"
    )
    func latencies() throws {
      let pipeWire = try PrivatePipeWire(period: 64)
      let client = try ArrayClient(name: "restless", server: pipeWire.name, onLoss: { _ in })
      defer { client.close() }
      func adopt(delayFrames: Int) throws {
        let engine = ArrayClientTests().engine(microphones: 2)
        // Until the callback has let go of the engine before, none can be prepared.
        let isPrepared = waitUntil(seconds: 5) {
          client.releaseRetired()
          guard
            let ports = try? client.prepare(
              engine, microphones: ["a", "b"], delayFrames: delayFrames)
          else { return false }
          client.adopt(ports)
          return true
        }
        try #require(isPrepared)
      }
      try adopt(delayFrames: 0)
      try client.activate()
      let looker = try JackConnection(name: "looker", server: pipeWire.name)
      defer { looker.close() }
      _ = try looker.registerPort("out", .output)
      try looker.activate()
      func latency() -> Int {
        guard let port = jack_port_by_name(looker.client, "restless:out_left") else { return -1 }
        var range = jack_latency_range_t()
        jack_port_get_latency_range(port, JackCaptureLatency, &range)
        return Int(range.max)
      }
      let end = ContinuousClock.now + .seconds(5)
      var (rounds, failures) = (0, 0)
      while .now < end {
        rounds += 1
        try adopt(delayFrames: rounds)
        client.reportLatencies()
        // The server refuses all but the first. To remove it each time would, once in some thousand times, meet another
        // fault of libjack 0.3.65, whose realtime thread then reads an address that has just gone.
        if !client.connection.connect("looker:out", "restless:a") { failures += 1 }
      }
      #expect(failures == 0 && rounds > 100, "\(failures) of \(rounds)")
      #expect(
        waitUntil(seconds: 5) {
          // PipeWire is asked to compute latencies again only when a replaced engine is released.
          client.releaseRetired()
          client.reportLatencies()
          return latency() == rounds
        }, "\(latency()) frames, not \(rounds)")
    }
  }
}
