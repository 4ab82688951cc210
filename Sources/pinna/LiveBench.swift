import Control
import Foundation
import JackClient
import JackTools
import Realtime

/// The engine in a graph of its own under a realtime server, each callback timed from entry to exit; and in turn with it
/// a client that does nothing but wait as long. Each is alone in the graph: the waking of one interrupts the other.
struct LiveBench {
  let shape: Partitioning
  let instructionSet: InstructionSet
  let pinna, idle: Percentiles
  let xruns: Int
  /// Whether idle cores were kept from sleeping.
  let isAwake: Bool

  static let usual = Partitioning(microphones: 16, taps: 1024, period: 32)
  private static let periodsPerRound = 2000

  /// Takes twice `periods` at 48 kHz of the clock. Nothing is connected: the microphones hear the one buffer of silence
  /// that JACK has for all. Once, from the main thread.
  init(_ shape: Partitioning, _ instructionSet: InstructionSet, periods: Int) throws {
    self.shape = shape
    self.instructionSet = instructionSet
    // The server is a process group of its own: it must not be left behind.
    let interruptions = StopCount()
    Signals.onStop { interruptions.next() }
    let awake = AwakeCores()
    let server = try PrivateServer(
      name: "pinna-bench-\(getpid())", sampleRate: Int(EngineBench.sampleRate), period: shape.period,
      realtime: true)
    defer { server.stop() }
    let round = LiveBenchRound(
      server: server.name, shape: shape, instructionSet: instructionSet,
      periods: min(periods, Self.periodsPerRound), interruptions: interruptions)
    var (times, excess): ([Int], [Int]) = ([], [])
    var xruns = 0
    while times.count < periods {
      let engine = try round.engine()
      times += engine.nanoseconds
      xruns += engine.xruns
      excess += try round.idle(wait: engine.nanoseconds.sorted()[engine.nanoseconds.count / 2])
    }
    self.xruns = xruns
    isAwake = awake != nil
    pinna = Percentiles(times.map { Double($0) / 1000 })
    idle = Percentiles(excess.map { Double($0) / 1000 })
  }

  /// What p99.9 may be: three times the usual, and what the machine does to a client that only waits.
  var limit: Double { 3 * pinna.p50 + idle.p999 }
  var isWithinLimit: Bool { pinna.p999 <= limit }

  var json: JSONObject {
    [
      "microphones": shape.microphones, "taps": shape.taps, "period": shape.period,
      "isa": instructionSet.rawValue,
      "callbackMicroseconds": pinna, "idleMicroseconds": idle, "limitMicroseconds": limit,
      "withinLimit": isWithinLimit, "xruns": xruns, "coresAwake": isAwake,
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
      \(row("a client that only waits as long as the engine's median: by how much longer", idle))

      p99.9 may be 3 x p50 and what the idle client shows: \(String(format: "%.2f", limit)) µs, \
      \(isWithinLimit ? "reached" : "MISSED"); \(xruns) xruns. \
      \(isAwake ? "Idle cores were kept awake." : AwakeCores.advice)
      """
  }
}

/// One client after the other, each alone in the graph of a server.
private struct LiveBenchRound {
  let server: String
  let shape: Partitioning
  let instructionSet: InstructionSet
  let periods: Int
  let interruptions: StopCount
  /// 0.2 s, in which a client joins.
  private var skipped: Int { Int(0.2 * EngineBench.sampleRate) / shape.period }

  /// How long the engine's callback took, and what the server missed meanwhile.
  func engine() throws -> (nanoseconds: [Int], xruns: Int) {
    let times = CallbackTimes(capacity: periods, skipping: skipped)
    let client = try ArrayClient(name: "bench", server: server, times: times, onShutdown: { _ in })
    defer { client.close() }
    client.adopt(
      try client.prepare(
        EngineBench(shape, instructionSet).engine,
        microphones: (1...shape.microphones).map { "microphone-\($0)" }, group: "bench", delayFrames: 0))
    try client.activate()
    try wait(every: 0.005, until: times.noted > 0, isServerGone: client.isServerGone)
    let joined = client.xruns
    try wait(until: times.isFull, isServerGone: client.isServerGone)
    let xruns = client.xruns - joined
    guard client.close() else { throw failure("does not let a client go") }
    return (times.nanoseconds, xruns)
  }

  /// By how much longer than `wait` nanoseconds the idle client's took.
  func idle(wait nanoseconds: Int) throws -> [Int] {
    let times = CallbackTimes(capacity: periods, skipping: skipped)
    let client = try IdleClient(name: "idle", server: server, wait: nanoseconds, times: times)
    defer { client.close() }
    try wait(until: times.isFull, isServerGone: client.isServerGone)
    guard client.close() else { throw failure("does not let a client go") }
    return times.nanoseconds
  }

  /// - Parameter interval: in seconds; long where callbacks are timed, since the timer that ends it interrupts them.
  private func wait(
    every interval: Double = 0.2, until isDone: @autoclosure () -> Bool, isServerGone: @autoclosure () -> Bool
  ) throws {
    let seconds = Double((periods + skipped) * shape.period) / EngineBench.sampleRate
    let limit = ContinuousClock.now + .seconds(10 + 2 * seconds)
    while !isDone() {
      guard interruptions.count == 0 else {
        throw Failure(.failed, "interrupted before all periods were measured; start it again")
      }
      guard !isServerGone() else { throw failure("has gone") }
      guard ContinuousClock.now < limit else { throw failure("stands still") }
      usleep(UInt32(1e6 * interval))
    }
  }

  private func failure(_ what: String) -> Failure {
    Failure(.noServer, "the JACK server of the bench \(what); try it again on a quiet machine")
  }
}
