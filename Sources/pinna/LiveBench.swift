import Control
import Foundation
import JackClient
import Realtime

/// The engine in a graph of its own under a realtime server, each callback timed from entry to exit; and in turn with it
/// a client that does nothing but wait as long. Each is alone in the graph: the waking of one interrupts the other.
struct LiveBench {
  let shape: Partitioning
  let instructionSet: InstructionSet
  let pinna, idle: Percentiles
  /// How long the idle client waits, in microseconds.
  let wait: Double
  let xruns: Int
  /// Whether idle cores were kept from sleeping.
  let isAwake: Bool

  static let usual = Partitioning(microphones: 16, taps: 1024, period: 32)
  private static let rounds = 20

  /// Takes twice `periods` at 48 kHz of the clock. The microphones hear silence, which takes as long as sound.
  /// Once, from the main thread.
  init(_ shape: Partitioning, _ instructionSet: InstructionSet, periods: Int) throws {
    self.shape = shape
    self.instructionSet = instructionSet
    // The server is a process group of its own: it must not be left behind.
    let interruptions = SignalCount()
    Signals.onStop { interruptions.next() }
    let awake = AwakeCores()
    let server = try PrivateServer(
      name: "pinna-bench-\(getpid())", sampleRate: Int(EngineBench.sampleRate), period: shape.period,
      realtime: true)
    defer { server.stop() }
    var (times, excess): ([Int], [Int]) = ([], [])
    var (xruns, wait) = (0, 0)
    for _ in 0..<Self.rounds {
      let round = CallbackTimes(capacity: max(1, periods / Self.rounds))
      let client = try ArrayClient(name: "bench", server: server.name, times: round, onShutdown: { _ in })
      defer { client.close() }
      try client.install(
        EngineBench(shape, instructionSet).engine,
        microphones: (1...shape.microphones).map { "microphone-\($0)" }, group: "bench", delayFrames: 0)
      try client.activate()
      try Self.fill(round, shape, interruptions)
      xruns += client.xruns
      client.close()
      times += round.nanoseconds
      wait = times.sorted()[times.count / 2]
      let idleRound = CallbackTimes(capacity: round.noted)
      let idle = try IdleClient(name: "idle", server: server.name, wait: wait, times: idleRound)
      defer { idle.close() }
      try Self.fill(idleRound, shape, interruptions)
      excess += idleRound.nanoseconds
    }
    self.xruns = xruns
    self.wait = Double(wait) / 1000
    isAwake = awake != nil
    pinna = Percentiles(times.map { Double($0) / 1000 })
    idle = Percentiles(excess.map { Double($0) / 1000 })
  }

  /// Waits until all periods are noted; not those in which the client joined.
  private static func fill(_ times: CallbackTimes, _ shape: Partitioning, _ interruptions: SignalCount) throws
  {
    usleep(200_000)
    times.restart()
    let seconds = Double(times.capacity * shape.period) / EngineBench.sampleRate
    let limit = ContinuousClock.now + .seconds(10 + 2 * seconds)
    while !times.isFull {
      guard interruptions.count == 0 else {
        throw Failure(.failed, "interrupted before all periods were measured; start it again")
      }
      guard ContinuousClock.now < limit else {
        throw Failure(
          .noServer,
          "the server of the bench stands still after \(times.noted) periods; try it on a quiet machine")
      }
      usleep(20_000)
    }
  }

  /// What p99.9 may be: three times the usual, and what the machine does to a client that only waits.
  var limit: Double { 3 * pinna.p50 + idle.p999 }
  var isWithinLimit: Bool { pinna.p999 <= limit }

  var json: [String: Any] {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "isa": instructionSet.rawValue,
      "callbackMicroseconds": pinna.json, "idleMicroseconds": idle.json, "limitMicroseconds": limit,
      "waitMicroseconds": wait, "withinLimit": isWithinLimit, "xruns": xruns, "coresAwake": isAwake,
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
      \(row("a client that only waits for \(String(format: "%.1f", wait)) µs: by how much longer", idle))

      p99.9 may be 3 x p50 and what the idle client shows: \(String(format: "%.2f", limit)) µs, \
      \(isWithinLimit ? "reached" : "MISSED"); \(xruns) xruns. \
      \(isAwake ? "Idle cores were kept awake." : AwakeCores.advice)
      """
  }
}
