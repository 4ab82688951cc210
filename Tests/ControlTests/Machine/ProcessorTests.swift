import Control
import Foundation
import Realtime
import Recording
import TestSupport
import Testing

/// What went wrong once, told event by event. `RandomSequenceTests` looks for what nobody thought of.
@Suite("The processor") struct ProcessorTests {
  @Test("joins a graph, and has what was set first in force")
  func joins() {
    let rig = Rig.live()
    #expect(rig.processor.state.kind == .live)
    #expect(rig.world.client?.sounding == Rig.setting && rig.processor.inForce == Rig.setting)
    #expect(rig.processor.serverState == .running)
  }

  // Defects 1 and 13.
  @Test(
    "R28: a take that was given up while no period ran locks nothing when periods run again, even behind a full queue"
  )
  func takeOfNobody() {
    let rig = Rig.live()
    var accepted = 0
    while rig.set([:], gain: accepted + 1).outcome == nil { accepted += 1 }
    #expect(accepted > 200, "the queue takes \(accepted) changes")
    let start = rig.startTake()
    rig.world.takes[0].open()
    rig.processor.poll()
    rig.advance(.seconds(4))
    #expect(start.status == .failed && rig.world.takes[0].isDiscarded)
    #expect(rig.processor.state.take == nil)
    rig.run(periods: 60)
    #expect(rig.world.client?.engine?.isRecording == false)
    let change = rig.set(["pattern": "cardioid"], gain: 300)
    rig.run(periods: 10)
    #expect(change.status == .done)
    #expect(rig.world.client?.sounding == rig.processor.inForce)
    let other = rig.set(["input": "b"], gain: 301)
    finishChange(rig)
    #expect(other.status == .done && rig.processor.inForce.device == Rig.other)
  }

  @Test(
    "R28: a take whose start the callback has not seen in three seconds ends in the period in which it begins"
  )
  func takeGivenUp() {
    let rig = Rig.live()
    let start = rig.startTake()
    rig.world.takes[0].open()
    rig.processor.poll()
    #expect(rig.processor.state.kind == .startingTake)
    rig.advance(.milliseconds(3001))
    #expect(start.status == .failed && rig.processor.state.kind == .live)
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.run(periods: 5)
    #expect(change.status == .done && rig.world.client?.engine?.isRecording == false)
  }

  // Defect 2.
  @Test(
    "R29: a disk that does not open a take is waited for five seconds, and a take that it does not finish for ten"
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
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    #expect(rig.processor.closing.isEmpty && rig.processor.incompleteTake == nil)
  }

  @Test("R29: a stop ends within three seconds of a disk that hangs, and says what was not written")
  func stopWithHungDisk() {
    let rig = Rig.live()
    let take = rig.record()
    take.unansweredFor = .seconds(5)
    let stop = rig.stop()
    rig.run(periods: 1)
    for _ in 0..<29 where stop.outcome == nil { rig.advance(.milliseconds(100)) }
    #expect(rig.processor.isStopped)
    #expect(stop.status == .incompleteTake && stop.text.contains("finish it with: pinna takes repair"))
    #expect(rig.processor.takeOutcome?.isComplete == false)
  }

  @Test("a stop waits for a disk that is slow and takes what it is given")
  func stopWithSlowDisk() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stop()
    rig.run(periods: 1)
    for _ in 0..<100 { rig.advance(.milliseconds(100)) }
    #expect(stop.outcome == nil && take.isAbandoned)
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
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
  @Test(
    "R28: a change of device whose fade-out timed out does not come later, and takes back no change that was answered"
  )
  func fadeOutTimesOut() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.world.endDesign()
    rig.processor.poll()
    rig.world.client?.endPreparing()
    rig.processor.poll()
    #expect(rig.processor.state.kind == .fadingOut)
    rig.advance(.milliseconds(3001))
    #expect(other.status == .failed && rig.processor.state.kind == .live)
    #expect(rig.world.client?.unused == 0, "its ports go")
    rig.run(periods: 10)
    let change = rig.set(["pattern": "cardioid"], gain: 2)
    rig.run(periods: 10)
    #expect(change.status == .done)
    rig.run(periods: 20)
    #expect(rig.processor.inForce.device == Rig.home && rig.world.client?.sounding == rig.processor.inForce)
    #expect(rig.processor.inForce.gain.value == Rig.decibels(2) && !rig.processor.isBusy)
  }

  @Test("a change that no period has applied in three seconds is told so, and comes into force when one does")
  func lateChange() {
    let rig = Rig.live()
    let change = rig.set(["pattern": "cardioid"], gain: 1)
    rig.advance(.milliseconds(3001))
    #expect(change.status == .failed && change.text.contains("comes into force when it does"))
    rig.run(periods: 3)
    #expect(rig.processor.inForce.gain.value == Rig.decibels(1) && !rig.processor.isBusy)
  }

  // Defect 12.
  @Test(
    "R42: a server that dies at any moment of a change of device finds us back with what sounded",
    arguments: 0..<12)
  func serverDiesDuringChange(step: Int) {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    let steps: [() -> Void] = [
      {}, { rig.world.endDesign() }, { rig.processor.poll() }, { rig.world.client?.endPreparing() },
      { rig.processor.poll() }, { rig.run(periods: 1) }, { rig.run(periods: 1) }, { rig.run(periods: 1) },
      { rig.run(periods: 1) }, { rig.run(periods: 1) }, { rig.run(periods: 1) }, { rig.run(periods: 1) },
      { rig.run(periods: 1) },
    ]
    for n in 0...step { steps[n]() }
    let wasDone = other.status == .done
    rig.world.client?.lossReason = "it was killed"
    rig.processor.poll()
    #expect(other.status == (wasDone ? .done : .noServer))
    rig.world.client?.endClosing()
    rig.processor.poll()
    rig.join()
    #expect(rig.processor.state.kind == .live)
    #expect(rig.processor.inForce.device == (wasDone ? Rig.other : Rig.home))
    #expect(rig.world.client?.sounding == rig.processor.inForce)
    #expect(rig.world.client?.device == rig.processor.inForce.device)
    #expect(rig.world.client?.hasWrongFilters == false)
  }

  // Defect 19.
  @Test(
    "R41: recording, mute and gain go on while another device is being designed, which then comes after the take"
  )
  func longDesign() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.advance(.seconds(120))
    #expect(other.outcome == nil && rig.processor.state.kind == .live)
    let gain = rig.set(["mute": "on"], gain: 2)
    rig.run(periods: 3)
    #expect(gain.status == .done && rig.processor.inForce.muted)
    let take = rig.record()
    #expect(rig.processor.state.kind == .recording)
    rig.world.endDesign()
    rig.advance(.seconds(10))
    guard case .done(let report) = other.outcome, let kept = (report as? ChangeReport)?.kept else {
      return #expect(Bool(false), "\(other)")
    }
    #expect(kept.contains("comes when it has ended") && rig.processor.inForce.device == Rig.home)
    let stop = rig.stopTake()
    rig.run(periods: 1)
    take.phase = .finished(FakeTake.whole)
    finishChange(rig)
    #expect(stop.status == .done && other.status == .done)
    #expect(rig.processor.inForce.device == Rig.other)
    #expect(rig.processor.inForce.muted && rig.processor.inForce.gain.value == Rig.decibels(2))
  }

  @Test("R41: a change of device that was cancelled, overtaken or given up by its asker never comes")
  func givenUp() {
    for way in 0..<3 {
      let rig = Rig.live()
      let other = rig.set(["input": "b"], gain: 1)
      switch way {
      case 0: #expect(rig.cancel().status == .done)
      case 1: rig.set(["input": "a"], gain: 2)
      default: other.isAskerThere = false
      }
      rig.processor.poll()
      #expect(other.status == .failed, "way \(way)")
      rig.world.endDesign()
      rig.world.client?.endPreparing()
      rig.run(periods: 20)
      rig.advance(.seconds(10))
      #expect(rig.processor.inForce.device == Rig.home && rig.processor.change == nil, "way \(way)")
      #expect(rig.world.client?.unused == 0, "way \(way)")
    }
  }

  @Test("a design is given up after ten minutes")
  func endlessDesign() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.advance(.seconds(601))
    #expect(other.status == .failed && other.text.contains("10 minutes"))
  }

  @Test("mute and gain that come while another device takes over come with it")
  func gainDuringFadeOut() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.world.endDesign()
    rig.processor.poll()
    rig.world.client?.endPreparing()
    rig.processor.poll()
    #expect(rig.processor.state.kind == .fadingOut)
    let mute = rig.set(["mute": "on"], gain: 2)
    let pattern = rig.set(["pattern": "cardioid"], gain: 3)
    #expect(pattern.status == .failed && pattern.text.contains("just taking over"))
    for _ in 0..<3 { rig.run(periods: 4) }
    #expect(other.status == .done && mute.status == .done)
    #expect(rig.processor.inForce.device == Rig.other && rig.processor.inForce.muted)
  }

  @Test("a client that libjack does not close leaves no way back")
  func stranded() {
    let rig = Rig.live()
    rig.world.client?.lossReason = "it was killed"
    rig.processor.poll()
    #expect(rig.processor.state.kind == .leaving)
    rig.advance(.milliseconds(3001))
    #expect(rig.processor.state.kind == .stranded && rig.processor.lossForGood(reconnects: true) != nil)
  }

  @Test("R4: a server that goes on our way into its graph is left at once", arguments: [false, true])
  func serverGoesBeforeWeAreIn(arePortsRegistered: Bool) {
    let rig = Rig()
    rig.processor.poll()
    rig.world.endOpening(.success(48000))
    rig.processor.poll()
    if arePortsRegistered {
      rig.world.endDesign()
      rig.processor.poll()
    }
    #expect(rig.processor.state.kind == (arePortsRegistered ? .preparing : .joining))
    rig.world.client?.lossReason = "it was killed"
    rig.processor.poll()
    #expect(rig.processor.state.kind == .leaving)
  }

  @Test("R28: a stop ends within three seconds although no period runs that could end the take")
  func stopWithoutPeriods() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stop()
    for _ in 0..<12 { rig.advance(.milliseconds(100)) }
    #expect(take.isAbandoned, "what is in its ring is the take")
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    #expect(stop.status == .done && rig.processor.isStopped)
  }

  @Test("a server that goes ends the take with what is in its ring, and answers all who wait with status 3")
  func serverGoesDuringTake() {
    let rig = Rig.live()
    let take = rig.record()
    let stop = rig.stopTake()
    rig.world.client?.lossReason = "it was killed"
    rig.processor.poll()
    #expect(take.isAbandoned && rig.processor.state.kind == .leaving)
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    #expect(stop.status == .done)
    for refused in [rig.startTake(), rig.set([:], gain: 1), rig.play(), rig.requestPeriod()] {
      #expect(refused.status == .noServer, "\(refused.event)")
    }
  }

  @Test(
    "refuses every change with status 5 from the request for a take to its end, and shows the take",
    arguments: 0..<4)
  func refusedDuringTake(phase: Int) {
    let rig = Rig.live()
    rig.startTake()
    if phase > 0 {
      rig.world.takes[0].open()
      rig.processor.poll()
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

  /// All that is needed for a change of device to come.
  func finishChange(_ rig: Rig) {
    for _ in 0..<6 {
      rig.world.endDesign()
      rig.processor.poll()
      rig.world.client?.endPreparing()
      rig.processor.poll()
      rig.run(periods: 3)
    }
  }

  // Found in a review of issue 12.
  @Test("R28: what stood still with the processor itself gets half a second before a wait is over")
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

  @Test("R28: a take that was stopped, or whose server went, before its first frame leaves no file")
  func unbegunTakes() {
    for end in ["stop", "server", "record stop and server"] {
      let rig = Rig.live()
      let start = rig.startTake()
      let take = rig.world.takes[0]
      take.open()
      rig.processor.poll()
      #expect(rig.processor.state.kind == .startingTake)
      if end == "record stop and server" { rig.stopTake() }
      if end == "stop" { rig.stop() } else { rig.world.client?.lossReason = "it was killed" }
      rig.advance(.milliseconds(1100))
      #expect(take.isDiscarded && rig.processor.closing.isEmpty && start.status != .done, "\(end)")
    }
  }

  @Test("R28: each of two who stop a take is answered when it is on disk")
  func twoStops() {
    let rig = Rig.live()
    let take = rig.record()
    let (first, second) = (rig.stopTake(), rig.stopTake())
    rig.run(periods: 1)
    #expect(first.outcome == nil && second.outcome == nil)
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    #expect(first.status == .done && second.status == .done)
  }

  @Test(
    "R28: a device that was promised for the end of a take comes, whoever of those who came later has gone")
  func promisedDevice() {
    let rig = Rig.live()
    let take = rig.record()
    // Refused during a take; what came before it waits for its end.
    rig.stopTake()
    rig.run(periods: 1)
    take.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    let other = rig.set(["input": "b"], gain: 1)
    rig.startTake()
    let second = rig.world.takes[1]
    second.open()
    rig.processor.poll()
    rig.run(periods: 1)
    rig.world.endDesign()
    rig.processor.poll()
    #expect(other.status == .done && rig.processor.change?.isPromised == true)
    rig.stopTake()
    rig.run(periods: 1)
    second.phase = .finished(FakeTake.whole)
    rig.processor.poll()
    rig.world.client?.endPreparing()
    let gain = rig.set([:], gain: 2)
    gain.isAskerThere = false
    rig.processor.poll()
    for _ in 0..<5 { rig.run(periods: 5) }
    #expect(rig.processor.inForce.device == Rig.other)
  }

  @Test(
    "R29: four requests that the disk has left open are the most; the next is refused, and a warning tells of them"
  )
  func hangingDisk() {
    let rig = Rig.live()
    for _ in 0..<Processor.mostHanging {
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
}
