import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

@Suite("Races between threads", .serialized) struct RaceTests {
  /// The Makefile sets PINNA_RACES to a smaller number for sanitizers.
  static let attempts = Int(Faults.number("PINNA_RACES", quick: 20_000, heavy: 100_000))
  /// Shorter than a test's time limit, which does not end a waiting test.
  static let patience = Duration.seconds(280)

  @Test(
    "R25: a change raced against take starts is fully before the take or refused, never half",
    .timeLimit(.minutes(10)))
  func changeAgainstTakeStart() throws {
    let engine = Engine(playing: constant(0), period: 16, fadeFrames: 16)
    let stop = Atomic<Bool>(false)
    let changed = Atomic<Bool>(false)
    let answered = Atomic<UInt64>(0)
    let end = ContinuousClock.now + Self.patience
    let threads = Threads()
    defer {
      stop.store(true, ordering: .releasing)
      threads.wait()
    }

    threads.start("callback") {
      var run = OfflineRun(engine, microphones: [[]])
      while !stop.load(ordering: .acquiring) {
        run.processConstant(16)
        sched_yield()
      }
    }
    // The changing thread: sends the next change as soon as the last is answered.
    threads.start("changer") {
      let sets = (1...2).map { constant(Float($0)) }
      for attempt in 0..<Self.attempts {
        let ticket = try! engine.change(to: sets[attempt % 2], gain: 1)
        while answered.load(ordering: .acquiring) != ticket.number {
          if .now > end || stop.load(ordering: .acquiring) { return }
          sched_yield()
        }
      }
      changed.store(true, ordering: .releasing)
    }

    // The recording thread, which also keeps the count. A take ends, and the next begins, after a random number of
    // answers, so that neither thread starves on a busy machine. When that happens within a change is random.
    var referee = Referee()
    func drainReports() {
      sched_yield()
      for report in engine.drainReports() {
        if let change = referee.record(report) { answered.store(change.number, ordering: .releasing) }
      }
    }
    var noise = SeededNoise(seed: 2)
    while !changed.load(ordering: .acquiring), .now < end {
      let ring = TakeRing(outputs: 1, capacityFrames: 1 << 16)
      let idleUntil = referee.applied + Int.random(in: 0...4, using: &noise)
      while referee.applied < idleUntil, !changed.load(ordering: .acquiring), .now < end {
        drainReports()
      }
      referee.take = try engine.beginTake(into: ring)
      let takeUntil = referee.refused + Int.random(in: 0...4, using: &noise)
      while referee.began == nil
        || (referee.refused < takeUntil && !changed.load(ordering: .acquiring)),
        .now < end
      {
        drainReports()
      }
      _ = try engine.endTake()
      while referee.began != nil, .now < end { drainReports() }
      referee.inspect(ring)
    }
    stop.store(true, ordering: .releasing)
    threads.wait()
    let isChanged = changed.load(ordering: .acquiring)
    #expect(isChanged, "changes, or takes, that nobody answered")
    print("raced \(referee.applied + referee.refused) changes against \(referee.takes) takes:")
    print("\(referee.applied) applied, \(referee.refused) refused")
    #expect(referee.faults.isEmpty, "\(referee.faults.prefix(5))")
    #expect(referee.applied >= Self.attempts / 10)
    #expect(referee.refused >= Self.attempts / 10)
    #expect(referee.takes >= Self.attempts / 100)
    Faults.report(
      "R25",
      done:
        "\(referee.applied + referee.refused) changes raced against \(referee.takes) take starts",
      measured: "\(referee.faults.count) in a take", limit: "0", kept: referee.faults.isEmpty)
  }

  @Test(
    "R2: each of the changes sent at full speed ends as applied, superseded or refused",
    .timeLimit(.minutes(10)))
  func everyMessageEnds() throws {
    let total = Int(Faults.number("PINNA_FAULT_MESSAGES", quick: 100_000, heavy: 10_000_000))
    let engine = Engine(playing: constant(0), period: 16, fadeFrames: 16)
    let stop = Atomic<Bool>(false)
    let giveUp = ContinuousClock.now + Self.patience
    let threads = Threads()
    threads.start("callback") {
      var run = OfflineRun(engine, microphones: [[]])
      while !stop.load(ordering: .acquiring) {
        run.processConstant(16)
        sched_yield()
      }
    }
    let sets = (1...4).map { constant(Float($0)) }
    var sent = 0
    var full = 0
    // Tickets are consecutive; one bit for each that has not been answered.
    var open = Set<UInt64>()
    var answers = (applied: 0, superseded: 0, refused: 0)
    var unexpected = 0
    func drainReports() {
      for report in engine.drainReports() {
        switch report {
        case .applied(let ticket, _):
          answers.applied += 1
          if open.remove(ticket.number) == nil { unexpected += 1 }
        case .superseded(let ticket):
          answers.superseded += 1
          if open.remove(ticket.number) == nil { unexpected += 1 }
        case .refused(let ticket, _):
          answers.refused += 1
          if open.remove(ticket.number) == nil { unexpected += 1 }
        default: break
        }
      }
    }
    var noise = SeededNoise(seed: 2)
    var takes = 0
    var recording = false
    while sent < total, .now < giveUp {
      // Occasionally a take, so that some changes are refused.
      if sent % 1000 == 500, !recording {
        recording =
          (try? engine.beginTake(into: TakeRing(outputs: 1, capacityFrames: 1 << 12))) != nil
        takes += recording ? 1 : 0
      }
      if sent % 1000 == 600, recording { recording = (try? engine.endTake()) == nil }
      do {
        open.insert(
          try engine.change(to: sets[sent % 4], gain: Float.random(in: 0...1, using: &noise)).number
        )
        sent += 1
      } catch {
        // If the queue is full, the sender tries again.
        full += 1
        sched_yield()
      }
      if sent % 64 == 0 { drainReports() }
    }
    let end = ContinuousClock.now + .seconds(10)
    while !open.isEmpty, .now < end { drainReports() }
    stop.store(true, ordering: .releasing)
    threads.wait()
    let ended = answers.applied + answers.superseded + answers.refused
    #expect(sent == total, "the queue stayed full")
    #expect(open.isEmpty && unexpected == 0)
    #expect(ended == sent && answers.applied > 0 && answers.superseded > 0 && answers.refused > 0)
    Faults.report(
      "R2",
      done:
        "\(sent) changes among \(takes) takes: \(answers.applied) applied, \(answers.superseded) superseded, "
        + "\(answers.refused) refused, \(full) times a full queue",
      measured: "\(sent - ended) unanswered",
      limit: "0",
      kept: ended == sent && unexpected == 0, isWhole: sent >= 10_000_000)
  }
}

/// Reads the reports in order, and records everything that a take should have prevented.
private struct Referee {
  var take: Ticket?
  var began: Int?
  var applied = 0
  var refused = 0
  var takes = 0
  var faults: [String] = []

  /// The change that this report answers, if it is about one.
  mutating func record(_ report: Report) -> Ticket? {
    switch report {
    case .applied(let ticket, let frame):
      applied += 1
      if let began { faults.append("applied at \(frame), take from \(began)") }
      return ticket
    case .refused(let ticket, let running):
      refused += 1
      if running != take { faults.append("refused in the name of another take") }
      return ticket
    case .takeBegan(_, let frame):
      began = frame
      takes += 1
    case .takeEnded:
      began = nil
    case .substituted, .superseded, .noTake, .released, .convolverReplaced, .playbackEnded,
      .takeArmed, .transportStopped, .feedBegan, .feedEnded:
      faults.append("unexpected \(report)")
    }
    return nil
  }

  /// Within one take the output never changes.
  mutating func inspect(_ ring: TakeRing) {
    var position = 0
    var values: Set<Float> = []
    ring.drain(position: &position, frames: { values.formUnion($0) }, gap: { _ in })
    if !values.allSatisfy({ isNear($0, values.first!) }) {
      faults.append("the sound changed during the take: \(values)")
    }
  }
}

private func constant(_ value: Float) -> FilterSet {
  FilterSet(coefficients: [[[value]]])
}

extension OfflineRun {
  /// One period of ones, without allocation.
  fileprivate mutating func processConstant(_ frames: Int) {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * frames) { memory in
      memory.initialize(repeating: 1)
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: 1) { inputs in
        inputs.initialize(repeating: UnsafePointer(memory.baseAddress!))
        let period = Period(
          frames: frames, inputs: inputs.baseAddress!, left: memory.baseAddress! + frames,
          right: memory.baseAddress! + 2 * frames)
        RealtimeContext.run { engine.process(period) }
      }
    }
  }
}
