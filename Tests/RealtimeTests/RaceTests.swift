import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

/// A gate that several threads pass together.
final class SpinBarrier: Sendable {
  private let arrived = Atomic<Int>(0)
  private let parties: Int
  init(parties: Int) { self.parties = parties }

  func pass(round: Int) {
    arrived.wrappingAdd(1, ordering: .acquiringAndReleasing)
    var spins = 0
    while arrived.load(ordering: .acquiring) < parties * round {
      spins += 1
      if spins % 1024 == 0 { sched_yield() }
    }
  }
}

@Suite(.serialized) struct RaceTests {
  /// Fewer under a sanitizer, which the Makefile says with PINNA_RACES.
  static let attempts = ProcessInfo.processInfo.environment["PINNA_RACES"].flatMap(Int.init) ?? 100_000

  @Test("R25: a change raced against a take start is fully before it or refused, never half", .timeLimit(.minutes(5)))
  func changeAgainstTakeStart() throws {
    let attempts = Self.attempts
    let engine = Engine(microphones: 1, taps: 1, sampleRate: 48000, fadeFrames: 16)
    let sets = (0...1).map { FilterSet(coefficients: [[[Float($0 + 1)]], [[Float($0 + 1)]]], channels: 1) }
    engine.start(with: sets[0])
    engine.prepare(period: 16)
    let stop = Atomic<Bool>(false)
    let barrier = SpinBarrier(parties: 2)
    let changeTicket = Mutex<Ticket?>(nil)
    let group = DispatchGroup()

    // The callback.
    Thread { [group] in
      var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 0)])
      while !stop.load(ordering: .acquiring) {
        run.processConstant(16)
        sched_yield()
      }
      group.leave()
    }.startEntered(group)
    // The one who changes.
    Thread { [group] in
      var noise = SeededNoise(seed: 1)
      for round in 1...attempts {
        barrier.pass(round: 2 * round - 1)
        spin(microseconds: Double.random(in: 0..<20, using: &noise))
        let ticket = try! engine.change(to: sets[round % 2], gain: 1)
        changeTicket.withLock { $0 = ticket }
        barrier.pass(round: 2 * round)
      }
      group.leave()
    }.startEntered(group)

    // The one who records, and the referee.
    var noise = SeededNoise(seed: 2)
    var changeWon = 0
    var takeWon = 0
    var sounding: Float = 1
    for round in 1...attempts {
      let ring = TakeRing(channels: 1, capacityFrames: 4096)
      barrier.pass(round: 2 * round - 1)
      // Longer than the other: this thread comes last through the barrier and has a head start.
      spin(microseconds: Double.random(in: 0..<80, using: &noise))
      let take = try engine.beginTake(into: ring)
      barrier.pass(round: 2 * round)
      let change = changeTicket.withLock { $0! }
      var applied: Int?
      var refused = false
      var began: Int?
      while began == nil || (applied == nil && !refused) {
        for report in engine.takeReports() {
          switch report {
          case .applied(change, let frame): applied = frame
          case .refused(change, take): refused = true
          case .takeBegan(take, let frame): began = frame
          default: Issue.record("unexpected \(report)")
          }
        }
        sched_yield()
      }
      let end = try engine.endTake()
      var ended = false
      while !ended {
        for report in engine.takeReports() {
          if case .takeEnded(end, _, _) = report { ended = true } else { Issue.record("unexpected \(report)") }
        }
        sched_yield()
      }
      if let applied {
        changeWon += 1
        sounding = Float(round % 2 + 1)
        if applied > began! { Issue.record("round \(round): applied at \(applied), take from \(began!)") }
      } else {
        takeWon += 1
      }
      var position = 0
      var uniform = true
      ring.drain(
        position: &position, frames: { if $0.contains(where: { $0 != sounding }) { uniform = false } },
        gap: { _ in })
      if !uniform { Issue.record("round \(round): the sound changed during the take") }
    }
    stop.store(true, ordering: .releasing)
    group.wait()
    print("raced \(attempts): the change won \(changeWon), the take won \(takeWon)")
    #expect(changeWon >= attempts / 10)
    #expect(takeWon >= attempts / 10)
  }
}

/// Passes the time without giving up the core.
func spin(microseconds: Double) {
  let end = ContinuousClock.now + .nanoseconds(Int(1000 * microseconds))
  while ContinuousClock.now < end {}
}

extension Thread {
  func startEntered(_ group: DispatchGroup) {
    group.enter()
    stackSize = 1 << 20
    start()
  }
}

extension OfflineRun {
  /// One period of ones.
  mutating func processConstant(_ frames: Int) {
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * frames) { memory in
      memory.initialize(repeating: 1)
      withUnsafeTemporaryAllocation(of: UnsafePointer<Float>?.self, capacity: 1) { inputs in
        inputs.initialize(repeating: UnsafePointer(memory.baseAddress!))
        engine.process(
          Period(
            frames: frames, inputs: inputs.baseAddress!, left: memory.baseAddress! + frames,
            right: memory.baseAddress! + 2 * frames))
      }
    }
  }
}
