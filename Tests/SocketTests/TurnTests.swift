import Foundation
import LiveSupport
import PinnaSession
import Synchronization
import TestSupport
import Testing

@Suite("Turns of a session's changes") struct TurnTests {
  @Test("waiting threads enter in the order of their arrival")
  func order() {
    let turn = Turn()
    let heard = Mutex<[Int]>([])
    #expect(turn.enter(seconds: 0))
    let threads = Threads()
    for n in 0..<20 {
      threads.start {
        guard turn.enter(seconds: 10) else { return }
        heard.withLock { $0.append(n) }
        turn.leave()
      }
      #expect(waitUntil(seconds: 5) { turn.waiting == n + 1 })
    }
    turn.leave()
    threads.wait()
    #expect(heard.withLock { $0 } == Array(0..<20))
  }

  @Test("a thread whose wait times out leaves the queue and does not block others")
  func deadline() {
    let turn = Turn()
    #expect(turn.enter(seconds: 0))
    #expect(!turn.enter(seconds: 0.05) && turn.waiting == 0)
    turn.leave()
    #expect(turn.enter(seconds: 0))
    turn.leave()
  }

  @Test(
    "R22: a wait has the requested length, however far the wall clock is off",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for the clock that jumps"),
    arguments: [-3600, 3600])
  func wallClock(seconds: Int) throws {
    let home = try PinnaHome()
    let clock = try JumpingClock(home: home)
    try clock.set(seconds: seconds)
    let outcome = try Program.run(
      try PinnaHome.built("peer"), ["turn", "0.3"],
      environment: home.environment.merging(clock.environment) { $1 }, seconds: 20)
    let took = try #require(Double(outcome.output.dropLast()), "\(outcome)")
    #expect(took >= 0.3 && took < 2, "\(took) s")
  }

  @Test("under races between turns and timeouts, one thread is inside at a time and none is left waiting")
  func race() {
    let turn = Turn()
    let inside = Atomic<Int>(0)
    let worst = Atomic<Int>(0)
    let threads = Threads()
    for n in 0..<8 {
      threads.start {
        for k in 0..<2000 {
          // Timeouts about as long as a turn, so that both coincide.
          guard turn.enter(seconds: Double((n + k) % 5) * 1e-5) else { continue }
          if inside.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue > 1 {
            worst.store(2, ordering: .sequentiallyConsistent)
          }
          inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
          turn.leave()
        }
      }
    }
    threads.wait()
    #expect(worst.load(ordering: .sequentiallyConsistent) == 0)
    #expect(turn.waiting == 0 && turn.enter(seconds: 0))
  }
}
