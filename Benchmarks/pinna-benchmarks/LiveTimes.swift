import Foundation
import JackClient
import JackTools
import Messages
import Realtime
import Settings

/// Times the engine's callback from entry to exit on a private realtime server, alternating with an idle client that
/// waits as long as the engine's median time. Only one of them is in the graph at a time, because each would interrupt
/// the other when it wakes up.
struct LiveTimes {
  let shape: Partitioning
  let instructionSet: InstructionSet
  let pinna, idle: Percentiles
  let xruns: Int
  /// Whether idle cores were kept awake.
  let isAwake: Bool

  static let usual = Partitioning(microphones: 16, taps: 1024, period: 32)
  private static let periodsPerRound = 2000
  /// Signals that ask to stop. A handler may count them: the count is atomic.
  fileprivate static let interruptions = StopCount()

  /// Runs for twice `periods` periods at 48 kHz. Nothing is connected: all microphones read JACK's one buffer of
  /// silence. Call it once, from the main thread.
  init(_ shape: Partitioning, _ instructionSet: InstructionSet, periods: Int) throws {
    self.shape = shape
    self.instructionSet = instructionSet
    // The server has its own process group, so a signal must not end this process before it stops the server.
    // Created before a handler may need it.
    _ = Self.interruptions.count
    for number in [SIGINT, SIGTERM] { signal(number) { _ in LiveTimes.interruptions.next() } }
    let awake = AwakeCores()
    let server = try PrivateServer(
      name: "pinna-bench-\(getpid())", sampleRate: Int(EngineTimes.sampleRate), period: shape.period,
      realtime: true)
    defer { server.stop() }
    let round = LiveRound(
      server: server.name, shape: shape, instructionSet: instructionSet,
      periods: min(periods, Self.periodsPerRound))
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

  /// Limit of the engine's p99.9: three times its median, plus the p99.9 delay of the idle client, which the machine
  /// causes.
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
      \(row("an idle client that waits as long as the engine's median: excess time", idle))

      Limit of p99.9 (3 x p50 + p99.9 of the idle client): \(String(format: "%.2f", limit)) µs, \
      \(isWithinLimit ? "met" : "MISSED"); \(xruns) xruns. \
      \(isAwake ? "Idle cores were kept awake." : AwakeCores.advice)
      """
  }
}

/// One round of the benchmark: the engine and the idle client, one after the other.
private struct LiveRound {
  let server: String
  let shape: Partitioning
  let instructionSet: InstructionSet
  let periods: Int
  /// Periods skipped while a client joins: 0.2 s.
  private var skipped: Int { Int(0.2 * EngineTimes.sampleRate) / shape.period }

  /// Durations of the engine's callback, and the xruns that the server reported during them.
  func engine() throws -> (nanoseconds: [Int], xruns: Int) {
    let times = CallbackTimes(capacity: periods, skipping: skipped)
    let client = try ArrayClient(name: "bench", server: server, times: times, onLoss: { _ in })
    defer { client.close() }
    client.adopt(
      try client.prepare(
        EngineTimes(shape, instructionSet).engine,
        microphones: (1...shape.microphones).map { "microphone-\($0)" }, delayFrames: 0))
    try client.activate()
    try wait(every: 0.005, until: times.noted > 0, isServerGone: client.isServerGone)
    let joined = client.xruns
    try wait(until: times.isFull, isServerGone: client.isServerGone)
    let xruns = client.xruns - joined
    guard client.close() else { throw failure("does not release a client") }
    return (times.nanoseconds, xruns)
  }

  /// The time by which each callback of the idle client exceeded its wait, in nanoseconds.
  /// - Parameter nanoseconds: the wait.
  func idle(wait nanoseconds: Int) throws -> [Int] {
    let times = CallbackTimes(capacity: periods, skipping: skipped)
    let client = try IdleClient(name: "idle", server: server, wait: nanoseconds, times: times)
    defer { client.close() }
    try wait(until: times.isFull, isServerGone: client.isServerGone)
    guard client.close() else { throw failure("does not release a client") }
    return times.nanoseconds
  }

  /// Polls until `isDone`.
  /// - Parameter interval: in seconds. It is long while callbacks are timed, because the polling timer interrupts them.
  private func wait(
    every interval: Double = 0.2, until isDone: @autoclosure () -> Bool, isServerGone: @autoclosure () -> Bool
  ) throws {
    let seconds = Double((periods + skipped) * shape.period) / EngineTimes.sampleRate
    let limit = ContinuousClock.now + .seconds(10 + 2 * seconds)
    while !isDone() {
      guard LiveTimes.interruptions.count == 0 else {
        throw Failure(.failed, "interrupted before all periods were measured; start it again")
      }
      guard !isServerGone() else { throw failure("has gone") }
      guard ContinuousClock.now < limit else { throw failure("has stalled") }
      usleep(UInt32(1e6 * interval))
    }
  }

  private func failure(_ problem: String) -> Failure {
    Failure(.noServer, "the JACK server of the benchmark \(problem); try again on an idle machine")
  }
}
