import Messages
import Processor
import Recording
import Settings
import TestSupport
import Testing

/// Takes that end by themselves, and what keeps the machine awake meanwhile.
@Suite("Takes of a given length") struct TakeLengthTests {
  @Test(
    "a take that has its length ends without a request; record stop answers with it, and says why it ended")
  func ends() {
    let rig = Rig.live()
    let take = rig.record()
    rig.run(periods: 3)
    #expect(rig.status.state == .recording)
    take.isOver = true
    rig.processor.poll()
    rig.run(periods: 2)
    rig.finish(take)
    #expect(rig.status.state == .stopped && rig.status.lastTake?.endedBecause?.contains("length") == true)
    #expect(take.events.count { $0.contains("the length that was asked for") } == 1, "\(take.events)")
    #expect(!take.isAbandoned && rig.warnings.contains { $0.contains(FakeTake.whole.path) })
    let stop = rig.stopTake()
    #expect(stop.status == .done)
    #expect("\(stop.answer["notes"] ?? "")".contains("it has ended because"), "\(stop.answer)")
    #expect(rig.set(["pattern": "cardioid"], gain: 1).status != .refused)
  }

  @Test("a stop that is asked for while the take ends by itself is answered like any other")
  func stopAtTheEnd() {
    let rig = Rig.live()
    let take = rig.record()
    take.isOver = true
    rig.processor.poll()
    let stop = rig.stopTake()
    #expect(stop.outcome == nil)
    rig.run(periods: 2)
    rig.finish(take)
    #expect(stop.status == .done && stop.answer["notes"] as? [String] == [])
  }

  @Test(
    "times are read with their units",
    arguments: [
      ("3h", 10_800), ("90min", 5400), ("1h30m", 5400), ("45s", 45), ("1h1m1s", 3661), ("1000h", 3_600_000),
    ])
  func times(text: String, seconds: Int) throws {
    #expect(try TakeRequest(words: ["for", text]).options.length == seconds)
  }

  @Test(
    "times without a unit, of nothing, or beyond 1000 hours are refused",
    arguments: ["", "3", "0s", "1001h", "-1h", "1h 30m", "30m1h", "1.5h", "99999999999999999999h", "h", "1d"])
  func noTimes(text: String) {
    let failure = #expect(throws: Failure.self) { try TakeRequest(words: ["for", text]) }
    #expect(failure?.status == .usage)
  }

  @Test("the machine is kept awake from the request for a take until the take is on disk")
  func awake() {
    let rig = Rig.live()
    #expect(rig.world.inhibitors.isEmpty)
    let take = rig.record()
    #expect(rig.world.inhibitors.map(\.isReleased) == [false])
    rig.stopTake()
    rig.run(periods: 2)
    #expect(rig.world.inhibitors.map(\.isReleased) == [false])
    rig.finish(take)
    #expect(rig.world.inhibitors.map(\.isReleased) == [true])
    let armed = rig.armTake()
    rig.open(rig.world.takes.last!)
    rig.run(periods: 2)
    #expect(armed.status == .done && rig.world.inhibitors.map(\.isReleased) == [true, false])
    rig.stop()
    rig.run(periods: 2)
    for take in rig.world.takes { rig.finish(take) }
    rig.advance(.seconds(4))
    #expect(rig.world.inhibitors.map(\.isReleased) == [true, true])
  }

  @Test("that nothing keeps the machine awake is said once, however many takes follow, and stops no take")
  func oneWarning() {
    let rig = Rig.live()
    for _ in 0..<3 {
      let take = rig.record()
      rig.world.inhibitors.last?.fault = "systemd-inhibit is not installed"
      rig.run(periods: 3)
      #expect(rig.status.state == .recording)
      rig.stopTake()
      rig.run(periods: 2)
      rig.finish(take)
    }
    #expect(rig.warnings.count { $0.contains("may go to sleep") } == 1, "\(rig.warnings)")
  }
}
