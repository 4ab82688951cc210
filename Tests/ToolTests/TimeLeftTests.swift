import Testing
import pinna

@Suite("Time left") struct TimeLeftTests {
  @Test(
    "after a quarter of an even computation in 10 s, 30 s are left; before 2 s and at the end nothing is said"
  )
  func estimate() {
    var timeLeft = TimeLeft()
    let start = ContinuousClock.now
    #expect(timeLeft.text(at: 0, now: start) == "")
    #expect(timeLeft.text(at: 0.1, now: start + .seconds(1)) == "")
    #expect(timeLeft.text(at: 0.25, now: start + .seconds(10)) == "about 30 s left")
    #expect(timeLeft.text(at: 0.9, now: start + .seconds(36)) == "about 4 s left")
    #expect(timeLeft.text(at: 1, now: start + .seconds(40)) == "")
  }

  @Test("a computation that was met half way is estimated from there on")
  func halfWay() {
    var timeLeft = TimeLeft()
    let start = ContinuousClock.now
    _ = timeLeft.text(at: 0.5, now: start)
    #expect(timeLeft.text(at: 0.625, now: start + .seconds(60)) == "about 3 min left")
    #expect(timeLeft.text(at: 0.5, now: start + .seconds(90)) == "")
  }
}
