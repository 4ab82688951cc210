import Foundation
import Realtime
import TestSupport
import Testing

/// Filter sets for one microphone that only scale and delay it, so that the samples identify the set in force.
func scaling(_ amplitude: Float, delay: Int = 0, taps: Int = 64) -> FilterSet {
  var filter = [Float](repeating: 0, count: taps)
  filter[delay] = amplitude
  return FilterSet(coefficients: [[filter]])
}

@Suite("Changes of filters") struct ChangeTests {
  @Test("a change is a raised-cosine fade of 20 ms whose gains sum to 1")
  func crossfadeIsARaisedCosine() throws {
    let engine = Engine(playing: scaling(1), period: 64)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 6400)])
    run.process(64)
    let ticket = try engine.change(to: scaling(-0.5), gain: 1)
    while run.position < 3200 { run.process(64) }
    for n in 64..<1024 {
      let weight = 0.5 - 0.5 * cos(Double.pi * (Double(n - 64) + 0.5) / 960)
      #expect(abs(Double(run.left[n]) - ((1 - weight) - 0.5 * weight)) < 1e-5)
    }
    #expect(run.left[1024...].allSatisfy { abs($0 + 0.5) < 1e-6 })
    #expect(engine.drainReports() == [.applied(ticket, frame: 1024)])
  }

  @Test(
    "every change ends as applied, superseded or refused, and only the newest waiting one is applied"
  )
  func everyChangeIsAnswered() throws {
    let engine = Engine(playing: scaling(0), period: 64)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 64000)])
    let tickets = try (1...4).map { try engine.change(to: scaling(Float($0)), gain: 1) }
    while run.position < 6400 { run.process(64) }
    let reports = Set(engine.drainReports())
    #expect(
      reports == [
        .applied(tickets[0], frame: 960), .superseded(tickets[1]), .superseded(tickets[2]),
        .applied(tickets[3], frame: 1920 + 0),
      ])
    #expect(isNear(run.left.last!, 4))
  }

  @Test("a gain change fades the set in force")
  func gainFades() throws {
    let filters = scaling(1)
    let engine = Engine(playing: filters, period: 100)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 6400)])
    _ = try engine.change(to: filters, gain: 0)
    while run.position < 3000 { run.process(100) }
    for n in 1..<960 { #expect(run.left[n] <= run.left[n - 1] + 1e-6) }
    #expect(run.left[960...].allSatisfy { $0 == 0 })
  }

  @Test(
    "S13: during a take changes are refused with the take's ticket, and the output does not change")
  func takeLocksTheEngine() throws {
    let engine = Engine(playing: scaling(1), period: 64)
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 64000)])
    let before = try engine.change(to: scaling(2), gain: 1)
    let ring = TakeRing(outputs: 1, capacityFrames: 48000)
    let take = try engine.beginTake(into: ring)
    let during = try engine.change(to: scaling(3), gain: 1)
    let second = try engine.beginTake(into: TakeRing(outputs: 1, capacityFrames: 100))
    while run.position < 6400 { run.process(64) }
    #expect(engine.statistics.recording)
    let end = try engine.endTake()
    let after = try engine.change(to: scaling(4), gain: 1)
    while run.position < 12800 { run.process(64) }
    #expect(
      engine.drainReports() == [
        .refused(during, take: take), .refused(second, take: take), .applied(before, frame: 960),
        .takeBegan(take, frame: 960), .takeEnded(end, take: take, frame: 6400),
        .applied(after, frame: 7360),
      ])
    var recorded: [Float] = []
    var position = 0
    ring.drain(
      position: &position, frames: { recorded += Array($0) }, gap: { _ in Issue.record("gap") })
    #expect(recorded.count == 6400 - 960)
    #expect(recorded.allSatisfy { isNear($0, 2) })
    #expect(ring.isFinished)
    #expect(isNear(run.left.last!, 4))
  }

  @Test("a fade in progress continues across a change of period")
  func fadeSurvivesAPeriodChange() throws {
    let engine = Engine(playing: scaling(0))
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 6400)])
    engine.prepare(period: 64)
    run.process(64)
    let ticket = try engine.change(to: scaling(1), gain: 1)
    for period in [64, 128, 16, 100, 480, 32, 441] {
      engine.prepare(period: period)
      run.process(period)
    }
    for n in 64..<1024 {
      #expect(
        abs(Double(run.left[n]) - (0.5 - 0.5 * cos(Double.pi * (Double(n - 64) + 0.5) / 960)))
          < 1e-5)
    }
    #expect(engine.drainReports() == [.applied(ticket, frame: 1024)])
  }

  @Test("a full queue is reported, not waited for")
  func fullQueueIsAnAnswer() throws {
    let engine = Engine(microphones: 1, taps: 64, sampleRate: 48000)
    let filters = scaling(1)
    #expect(throws: QueueRefusal.queueFull) {
      for _ in 0..<10_000 { _ = try engine.change(to: filters, gain: 1) }
    }
  }
}
