import Control
import Foundation
import JackClient
import Realtime

/// The engine in a graph of its own under a realtime server, each callback timed from entry to exit, beside a client
/// that does nothing but wait.
struct LiveBench {
  let shape: Partitioning
  let instructionSet: InstructionSet
  let pinna, idle: Percentiles
  let xruns: Int

  static let usual = Partitioning(microphones: 16, taps: 1024, period: 32)

  /// Takes `periods` at 48 kHz of the clock. The microphones hear silence, which takes as long as sound.
  init(_ shape: Partitioning, _ instructionSet: InstructionSet, periods: Int) throws {
    self.shape = shape
    self.instructionSet = instructionSet
    let name = "pinna-bench-\(getpid())"
    let server = try PrivateServer(
      name: name, sampleRate: Int(EngineBench.sampleRate), period: shape.period, realtime: true)
    defer { server.stop() }
    let (times, idleTimes) = (CallbackTimes(capacity: periods), CallbackTimes(capacity: periods))
    let client = try ArrayClient(name: "bench", server: name, times: times, onShutdown: { _ in })
    let engine = EngineBench(shape, instructionSet).engine
    try client.install(
      engine, microphones: (1...shape.microphones).map { "microphone-\($0)" }, group: "bench", delayFrames: 0)
    try client.activate()
    let nobody = try IdleClient(name: "idle", server: name, times: idleTimes)
    defer {
      nobody.close()
      client.close()
    }
    // What happens while clients join is not what is asked for.
    usleep(500_000)
    times.restart()
    idleTimes.restart()
    let limit =
      ContinuousClock.now + .seconds(10 + 2 * Double(periods * shape.period) / EngineBench.sampleRate)
    while !times.isFull || !idleTimes.isFull {
      guard !client.isServerGone, ContinuousClock.now < limit else {
        throw Failure(
          .noServer,
          "the server of the bench stands still after \(times.noted) periods; try it on a quiet machine")
      }
      usleep(20_000)
    }
    xruns = client.xruns
    pinna = Percentiles(times.nanoseconds.map { Double($0) / 1000 })
    idle = Percentiles(idleTimes.nanoseconds.map { Double($0) / 1000 })
  }

  /// What p99.9 may be: three times the usual, and what the machine does to a client that only waits.
  var limit: Double { 3 * pinna.p50 + idle.p999 }
  var isWithinLimit: Bool { pinna.p999 <= limit }

  var json: [String: Any] {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "isa": instructionSet.rawValue,
      "callbackMicroseconds": pinna.json, "idleMicroseconds": idle.json, "limitMicroseconds": limit,
      "withinLimit": isWithinLimit, "xruns": xruns,
    ]
  }

  var table: String {
    func row(_ name: String, _ p: Percentiles) -> String {
      String(format: "| %@ | %.2f | %.2f | %.2f | %.2f | %.1f |", name, p.min, p.p50, p.p99, p.p999, p.max)
    }
    return """
      | callback, entry to exit (µs) | min | p50 | p99 | p99.9 | max |
      |---|---|---|---|---|---|
      \(row("\(shape.microphones) microphones, \(shape.taps) taps, period \(shape.period), \(instructionSet.rawValue)", pinna))
      \(row("a client that only waits for \(IdleClient.wait / 1000) µs: by how much longer", idle))

      p99.9 may be 3 x p50 and what the idle client shows: \(String(format: "%.2f", limit)) µs, \
      \(isWithinLimit ? "reached" : "MISSED"); \(xruns) xruns.
      """
  }
}
