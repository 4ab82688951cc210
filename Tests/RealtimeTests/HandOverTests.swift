import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

/// What the sanitizers are for: every hand-over between the sides while the callback runs.
@Suite(.serialized) struct HandOverTests {
  @Test(
    "R13: periods, fresh filter sets and takes change hands while the callback runs", .timeLimit(.minutes(2)))
  func everythingAtOnce() throws {
    let engine = Engine(microphones: 2, taps: 600, sampleRate: 48000, fadeFrames: 100)
    let period = Atomic<Int>(64)
    let stop = Atomic<Bool>(false)
    engine.prepare(period: 64)
    let threads = Threads()
    threads.start {
      var run = OfflineRun(engine, microphones: [[Float](repeating: 0.5, count: 64), []])
      while !stop.load(ordering: .acquiring) {
        run.process(period.load(ordering: .relaxed))
        run.forget()
      }
    }
    // The server: a new period is prepared first, as JACK does, and now and then another follows at once.
    threads.start {
      var noise = SeededNoise(seed: 4)
      while !stop.load(ordering: .acquiring) {
        for _ in 0...Int.random(in: 0...1, using: &noise) {
          engine.prepare(period: [16, 64, 100, 256, 1024].randomElement(using: &noise)!)
        }
        let next = [16, 64, 100, 256, 1024].randomElement(using: &noise)!
        engine.prepare(period: next)
        period.store(next, ordering: .relaxed)
        usleep(UInt32.random(in: 0...10, using: &noise))
      }
    }
    var noise = SeededNoise(seed: 5)
    var asked: Set<UInt64> = []
    var answered: Set<UInt64> = []
    func listen() {
      for report in engine.takeReports() {
        switch report {
        case .applied(let ticket, _), .superseded(let ticket), .refused(let ticket, _):
          answered.insert(ticket.number)
        default: break
        }
      }
    }
    for _ in 0..<200 {
      // Nobody but the engine keeps the sets and rings that it was given.
      for _ in 0..<3 {
        let filters = FilterSet(coefficients: noise.filters(microphones: 2, taps: 600), channels: 2)
        if let ticket = try? engine.change(to: filters, gain: 1) { asked.insert(ticket.number) }
      }
      let ring = TakeRing(outputs: 2, capacityFrames: 5000)
      _ = try engine.beginTake(into: ring)
      usleep(500)
      var position = 0
      ring.drain(position: &position, frames: { _ in }, gap: { _ in })
      _ = try engine.endTake()
      usleep(500)
      listen()
    }
    let end = ContinuousClock.now + .seconds(20)
    while !asked.isSubset(of: answered), ContinuousClock.now < end { listen() }
    stop.store(true, ordering: .releasing)
    threads.wait()
    #expect(asked.isSubset(of: answered))
  }
}
