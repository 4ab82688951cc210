import Foundation
import JackClient
import Messages
import Processor
import Realtime
import Recording
import TestSupport
import Testing

/// Regressions, event by event. `RandomSequenceTests` searches for unknown ones.
@Suite("The processor") struct ProcessorTests {
  // Defects 1 and 13.

  @Test(
    "R28: a take given up while no period ran locks nothing afterwards, even behind a full queue"
  )
  func takeOfNobody() {
    let rig = Rig.live()
    var accepted = 0
    while rig.set([:], gain: accepted + 1).outcome == nil { accepted += 1 }
    #expect(accepted > 200, "the queue takes \(accepted) changes")
    let start = rig.startTake()
    rig.open(rig.world.takes[0])
    rig.advance(.seconds(4))
    #expect(start.status == .failed && rig.world.takes[0].isDiscarded)
    #expect(rig.processor.state.take == nil)
    rig.run(periods: 60)
    #expect(rig.world.client?.engine?.isRecording == false)
    let change = rig.set(["pattern": "cardioid"], gain: 300)
    rig.run(periods: 10)
    #expect(change.status == .done)
    #expect(rig.world.client?.audibleSetting == rig.processor.inForce)
    let other = rig.set(["input": "b"], gain: 301)
    rig.finishChange()
    #expect(other.status == .done && rig.processor.inForce.device == Rig.other)
  }

  @Test(
    "R28: a take whose start the callback has not seen within three seconds ends in its first period"
  )
  func takeGivenUp() {
    let rig = Rig.live()
    let start = rig.startTake()
    rig.open(rig.world.takes[0])
    #expect(rig.processor.state.kind == .startingTake)
    rig.advance(.milliseconds(3001))
    #expect(start.status == .failed && rig.processor.state.kind == .live)
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.run(periods: 5)
    #expect(change.status == .done && rig.world.client?.engine?.isRecording == false)
  }

  // Defect 2.

  @Test(
    "R29: opening a take is limited to five seconds of a hanging disk, and finishing it to ten"
  )
  func hungDisk() {
    let rig = Rig.live()
    let start = rig.startTake()
    rig.advance(.seconds(4))
    #expect(start.outcome == nil && rig.processor.state.kind == .openingTake)
    rig.advance(.milliseconds(1001))
    #expect(start.status == .failed && start.text.contains("5 s") && rig.world.takes[0].isDiscarded)
    let take = rig.record()
    let stop = rig.stopTake()
    rig.run(periods: 1)
    #expect(rig.processor.state.kind == .live, "the callback has ended it")
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.run(periods: 3)
    #expect(change.status == .done, "the disk is nobody else's business")
    take.unansweredFor = .seconds(11)
    rig.processor.poll()
    #expect(stop.status == .incompleteTake && stop.text.contains("has not answered for 11 s"))
    rig.finish(take)
    #expect(rig.processor.takes.closing.isEmpty && rig.processor.takes.incomplete == nil)
  }

  @Test("R29: with a hanging disk, a stop ends within three seconds and names the take that was not written")
  func stopWithHungDisk() {
    let rig = Rig.live()
    let take = rig.record()
    take.unansweredFor = .seconds(5)
    let stop = rig.stop()
    rig.run(periods: 1)
    for _ in 0..<29 where stop.outcome == nil { rig.advance(.milliseconds(100)) }
    #expect(rig.processor.isStopped)
    #expect(stop.status == .incompleteTake && stop.text.contains("finish it with: pinna takes repair"))
    #expect(rig.processor.takes.outcome.areComplete == false)
  }

  @Test("a stop waits for a disk that is slow but keeps writing")
  func stopWithSlowDisk() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stop()
    rig.run(periods: 1)
    for _ in 0..<100 { rig.advance(.milliseconds(100)) }
    #expect(stop.outcome == nil && take.isAbandoned)
    rig.finish(take)
    #expect(stop.status == .done && rig.processor.isStopped)
  }

  @Test("a fifth take is refused while four are still being written")
  func manyClosing() {
    let rig = Rig.live()
    for _ in 0..<4 {
      _ = rig.record()
      rig.stopTake()
      rig.run(periods: 1)
    }
    let fifth = rig.startTake()
    #expect(fifth.status == .failed && fifth.text.contains("4 takes are still being written"))
  }

  // Defect 3.

  @Test("a change that no period has applied within three seconds is reported as late and applied later")
  func lateChange() {
    let rig = Rig.live()
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.advance(.milliseconds(3001))
    #expect(change.status == .failed && change.text.contains("comes into force when they do"))
    rig.run(periods: 3)
    #expect(rig.processor.inForce.main.gain.value == Rig.decibels(1) && !rig.processor.isBusy)
  }

  /// The server dies, another comes and dies while it is joined, and the next one has that rate.
  private func restart(_ rig: Rig, rate: Int) {
    rig.killServer()
    for _ in 0..<2 {
      rig.world.client?.endClosing()
      rig.processor.poll()
      rig.world.now += .milliseconds(300)
      rig.processor.poll()
      rig.endOpening(rate)
      if rig.world.clients.count == 2 { rig.killServer() }
    }
    while !rig.world.designs.isEmpty { rig.endDesign() }
    rig.endPreparing()
    rig.run(periods: 3)
  }

  @Test(
    "R28: a change that was to come into force after a standstill does so after a restart of the server",
    arguments: [48000, 44100])
  func promisedChange(rate: Int) {
    let rig = Rig.live()
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.advance(.milliseconds(3001))
    #expect(change.text.contains("comes into force when they do"))
    let newer = rig.set([:], gain: 2)
    restart(rig, rate: rate)
    #expect(newer.status == .noServer && rig.processor.state.kind == .live)
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    #expect(rig.processor.inForce.main.gain.value == Rig.decibels(1))
    #expect(rig.processor.wanted == rig.processor.inForce)
    #expect(rig.world.client?.audibleSetting == rig.processor.inForce)
  }

  @Test(
    "R28: a device that was to fade in after a standstill is in use after a restart of the server",
    arguments: [48000, 44100])
  func promisedFadeIn(rate: Int) {
    let rig = Rig.live()
    let change = rig.set(["input": "b"], gain: 1)
    rig.endDesign()
    rig.endPreparing()
    rig.run(periods: 2)
    #expect(rig.processor.state.kind == .live && rig.processor.inForce.device == Rig.home)
    rig.advance(.milliseconds(3001))
    #expect(change.text.contains("comes into force when they do"))
    restart(rig, rate: rate)
    #expect(rig.processor.inForce.device == Rig.other && rig.world.client?.device == Rig.other)
    #expect(rig.world.client?.audibleSetting == rig.processor.inForce)
    #expect(rig.world.client?.hasWrongFilters == false)
  }

  // Defect 12.

  @Test("a design is given up after ten minutes")
  func endlessDesign() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.advance(.seconds(601))
    #expect(other.status == .failed && other.text.contains("10 minutes"))
  }

  @Test("a client that libjack does not close leaves the processor stranded")
  func stranded() {
    let rig = Rig.live()
    rig.killServer()
    #expect(rig.processor.state.kind == .leaving)
    rig.advance(.milliseconds(3001))
    #expect(rig.processor.state.kind == .stranded && rig.processor.permanentLossReason != nil)
  }

  @Test(
    "a first server that freezes while ports are registered and cannot be left ends a run that waits for one")
  func strandedAtStart() throws {
    let rig = Rig()
    rig.processor.poll()
    rig.endOpening(48000)
    rig.endDesign()
    #expect(rig.processor.state.kind == .preparing)
    rig.advance(.milliseconds(10_001))
    #expect(rig.processor.state.kind == .leaving)
    // As the controller asks after every poll, and its time to wait has not passed.
    #expect(rig.processor.startFailure(isWaiting: true) == nil)
    rig.advance(.milliseconds(3001))
    #expect(rig.processor.state.kind == .stranded)
    let failure = try #require(rig.processor.startFailure(isWaiting: true))
    #expect(failure.status == .noServer && failure.description.contains("start Pinna again"), "\(failure)")
  }

  @Test("a take stopped while Pinna stops is answered when it is on disk")
  func stopTakeDuringStop() {
    let rig = Rig.live()
    let take = rig.record()
    rig.stop()
    let early = rig.stopTake()
    rig.run(periods: 1)
    let late = rig.stopTake()
    #expect(early.outcome == nil && late.outcome == nil)
    rig.finish(take)
    #expect(early.status == .done && late.status == .done && rig.processor.isStopped)
    #expect(rig.stopTake().status == .notRunning)
  }

  @Test("R4: a server that dies while Pinna joins its graph is left at once", arguments: [false, true])
  func serverGoesBeforeWeAreIn(arePortsRegistered: Bool) {
    let rig = Rig()
    rig.processor.poll()
    rig.endOpening(48000)
    if arePortsRegistered {
      rig.endDesign()
    }
    #expect(rig.processor.state.kind == (arePortsRegistered ? .preparing : .joining))
    rig.killServer()
    #expect(rig.processor.state.kind == .leaving)
  }

  @Test("R28: a stop ends within three seconds even if no period runs that could end the take")
  func stopWithoutPeriods() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stop()
    for _ in 0..<12 { rig.advance(.milliseconds(100)) }
    #expect(take.isAbandoned, "what is in its ring is the take")
    rig.finish(take)
    #expect(stop.status == .done && rig.processor.isStopped)
  }

  @Test("a lost server ends the take with the ring's contents and answers all later requests with status 3")
  func serverGoesDuringTake() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stopTake()
    rig.killServer()
    #expect(take.isAbandoned && rig.processor.state.kind == .leaving)
    rig.finish(take)
    #expect(stop.status == .done)
    for refused in [rig.startTake(), rig.set([:], gain: 1), rig.play(), rig.requestPeriod()] {
      #expect(refused.status == .noServer, "\(refused.event)")
    }
  }

  @Test(
    "every change is refused with status 5 from the request for a take to its end, and status shows the take",
    arguments: 0..<4)
  func refusedDuringTake(phase: Int) {
    let rig = Rig.live()
    rig.startTake()
    if phase > 0 {
      rig.open(rig.world.takes[0])
    }
    if phase > 1 { rig.run(periods: 1) }
    if phase > 2 { rig.stopTake() }
    let kinds: [ProcessorState.Kind] = [.openingTake, .startingTake, .recording, .endingTake]
    #expect(rig.processor.state.kind == kinds[phase])
    #expect(rig.processor.state.take != nil)
    for refused in [
      rig.set([:], gain: 1), rig.set(["input": "b"], gain: 2), rig.startTake(), rig.play(),
      rig.requestPeriod(),
    ] { #expect(refused.status == .refused, "\(refused.event)") }
  }

  // Found in a review of issue 12.

  @Test("R28: after a stall of the processor itself, a wait gets half a second more")
  func standstill() {
    let rig = Rig.live()
    let start = rig.startTake()
    rig.standStill(.seconds(6))
    #expect(start.outcome == nil && rig.processor.state.kind == .openingTake)
    rig.world.takes[0].open()
    rig.advance(.milliseconds(100))
    rig.run(periods: 1)
    #expect(start.status == .done && rig.processor.state.kind == .recording)
    let other = rig.startTake()
    #expect(other.status == .refused)

    let late = Rig.live()
    let never = late.startTake()
    late.standStill(.seconds(6))
    late.advance(.milliseconds(600))
    #expect(never.status == .failed && late.processor.state.kind == .live)
  }

  @Test("R28: a take that was stopped or lost its server before its first frame leaves no file")
  func unbegunTakes() {
    for end in ["stop", "server", "record stop and server"] {
      let rig = Rig.live()
      let start = rig.startTake()
      let take = rig.world.takes[0]
      rig.open(take)
      #expect(rig.processor.state.kind == .startingTake)
      if end == "record stop and server" { rig.stopTake() }
      if end == "stop" { rig.stop() } else { rig.world.client?.loss = .server("it was killed") }
      rig.advance(.milliseconds(1100))
      #expect(take.isDiscarded && rig.processor.takes.closing.isEmpty && start.status != .done, "\(end)")
    }
  }

  @Test("R28: two requests to stop a take are both answered when it is on disk")
  func twoStops() {
    let rig = Rig.live()
    let take = rig.record()
    let (first, second) = (rig.stopTake(), rig.stopTake())
    rig.run(periods: 1)
    #expect(first.outcome == nil && second.outcome == nil)
    rig.finish(take)
    #expect(first.status == .done && second.status == .done)
  }

  @Test(
    "R29: at most four requests may hang on the disk; the next is refused, and a warning counts them"
  )
  func hangingDisk() {
    let rig = Rig.live()
    for _ in 0..<Takes.maxHanging {
      rig.startTake()
      rig.advance(.milliseconds(5001))
    }
    rig.advance(.milliseconds(100))
    let fifth = rig.startTake()
    #expect(fifth.status == .failed && fifth.text.contains("4 earlier requests"))
    #expect(rig.warnings.contains { $0.contains("has not answered earlier requests") }, "\(rig.warnings)")
    rig.world.takes[0].phase = .failed(TakeError("nobody wanted it"))
    #expect(rig.startTake().outcome == nil)
  }

  @Test("status tells silence as −150 dB, a level as it is, and how many packets were dropped")
  func levels() {
    let rig = Rig.live()
    rig.world.client?.readings.microphones = ["one", "two"]
    rig.world.client?.readings.levels =
      [Level(rms: 0, peak: 0), Level(rms: 0.1, peak: 1)]
      + [Level](repeating: Level(rms: 0, peak: 0), count: 2)
    let status = rig.processor.status(droppedPackets: 3, deferredChanges: [], controller: "anna")
    let levels = status.levels.microphones.map { [$0.rmsDB, $0.peakDB] }
    #expect(levels == [[-150, -150], [-20, 0]])
    #expect(status.droppedPackets == 3 && status.controller == "anna")
  }
}
