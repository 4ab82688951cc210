import Foundation
import JackClient
import Messages
import Processor
import Realtime
import Recording
import Settings
import TestSupport
import Testing

/// Changes of device in the background and around takes.
extension ProcessorTests {
  /// Requests another device and completes its design and ports, so that the outputs fade out.
  private func fadeOutForOtherDevice(_ rig: Rig) -> Rig.SentRequest {
    let other = rig.set(["input": "b"], gain: 1)
    rig.endDesign()
    rig.endPreparing()
    #expect(rig.processor.state.kind == .fadingOut)
    return other
  }

  @Test(
    "R28: a device change whose fade-out timed out is never applied later and reverts no confirmed change"
  )
  func fadeOutTimesOut() {
    let rig = Rig.live()
    let other = fadeOutForOtherDevice(rig)
    rig.advance(.milliseconds(3001))
    #expect(other.status == .failed && rig.processor.state.kind == .live)
    #expect(rig.world.client?.unusedEngines == 0, "its ports go")
    rig.run(periods: 10)
    let change = rig.set(["pattern": "cardioid"], gain: 2)
    rig.run(periods: 10)
    #expect(change.status == .done)
    rig.run(periods: 20)
    #expect(
      rig.processor.inForce.device == Rig.home && rig.world.client?.audibleSetting == rig.processor.inForce)
    #expect(rig.processor.inForce.main.gain.value == Rig.decibels(2) && !rig.processor.isBusy)
  }

  @Test(
    "R42: when the server dies at any step of a device change, the previous setting is restored",
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
    rig.killServer()
    #expect(other.status == (wasDone ? .done : .noServer))
    rig.restartServer()
    #expect(rig.processor.state.kind == .live)
    #expect(rig.processor.inForce.device == (wasDone ? Rig.other : Rig.home))
    #expect(rig.world.client?.audibleSetting == rig.processor.inForce)
    #expect(rig.world.client?.device == rig.processor.inForce.device)
    #expect(rig.world.client?.hasWrongFilters == false)
  }

  // Defect 19.

  @Test(
    "R41: recording, mute and gain work while another device is designed, which is applied after the take"
  )
  func longDesign() {
    let rig = Rig.live()
    let other = rig.set(["input": "b"], gain: 1)
    rig.advance(.seconds(120))
    #expect(other.outcome == nil && rig.processor.state.kind == .live)
    let gain = rig.set(["mute": "on"], gain: 2)
    rig.run(periods: 3)
    #expect(gain.status == .done && rig.processor.inForce.main.muted)
    let take = rig.record()
    #expect(rig.processor.state.kind == .recording)
    rig.world.endDesign()
    rig.advance(.seconds(10))
    guard case .done(let report) = other.outcome, let kept = (report as? ChangeReport)?.kept else {
      return #expect(Bool(false), "\(other)")
    }
    #expect(kept.contains("the device changes to") && rig.processor.inForce.device == Rig.home)
    let stop = rig.stopTake()
    rig.run(periods: 1)
    take.phase = .finished(FakeTake.whole)
    rig.finishChange()
    #expect(stop.status == .done && other.status == .done)
    #expect(rig.processor.inForce.device == Rig.other)
    #expect(rig.processor.inForce.main.muted && rig.processor.inForce.main.gain.value == Rig.decibels(2))
  }

  @Test("R41: a device change that was cancelled, superseded or abandoned by its requester is never applied")
  func givenUp() {
    for way in 0..<3 {
      let rig = Rig.live()
      let other = rig.set(["input": "b"], gain: 1)
      switch way {
      case 0: #expect(rig.cancel().status == .done)
      case 1: rig.set(["input": "a"], gain: 2)
      default: other.requesterIsPresent = false
      }
      rig.processor.poll()
      #expect(other.status == .failed, "way \(way)")
      rig.world.endDesign()
      rig.world.client?.endPreparing()
      rig.run(periods: 20)
      rig.advance(.seconds(10))
      #expect(rig.processor.inForce.device == Rig.home && rig.processor.change == nil, "way \(way)")
      #expect(rig.world.client?.unusedEngines == 0, "way \(way)")
    }
  }

  @Test("mute and gain that are set while another device takes over are applied with it")
  func gainDuringFadeOut() {
    let rig = Rig.live()
    let other = fadeOutForOtherDevice(rig)
    let mute = rig.set(["mute": "on"], gain: 2)
    let pattern = rig.set(["pattern": "cardioid"], gain: 3)
    #expect(pattern.status == .failed && pattern.text.contains("just taking over"))
    for _ in 0..<3 { rig.run(periods: 4) }
    #expect(other.status == .done && mute.status == .done)
    #expect(rig.processor.inForce.device == Rig.other && rig.processor.inForce.main.muted)
  }

  @Test(
    "R28: a device promised for the end of a take is applied even if later requesters disappear")
  func promisedDevice() {
    let rig = Rig.live()
    let take = rig.record()
    // Changes are refused during a take; one that came before the take waits for its end.
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    let other = rig.set(["input": "b"], gain: 1)
    rig.startTake()
    let second = rig.world.takes[1]
    rig.open(second)
    rig.run(periods: 1)
    rig.endDesign()
    #expect(other.status == .done && rig.processor.change?.isPromised == true)
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(second)
    rig.world.client?.endPreparing()
    let gain = rig.set([:], gain: 2)
    gain.requesterIsPresent = false
    rig.processor.poll()
    for _ in 0..<5 { rig.run(periods: 5) }
    #expect(rig.processor.inForce.device == Rig.other)
  }

  @Test("R28: if the server dies while a promised device takes over, the operator and sessions are told")
  func promisedDeviceWithoutServer() {
    let rig = Rig.live()
    rig.set(["input": "b"], gain: 1)
    let take = rig.record()
    rig.endDesign()
    #expect(rig.processor.change?.isPromised == true)
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    rig.endPreparing()
    #expect(rig.processor.state.kind == .fadingOut)
    var events: [EngineEvent] = []
    rig.processor.onEvent = { events.append($0) }
    rig.killServer()
    #expect(events.map(\.kind).contains(.inputChangeFailed), "\(events)")
    #expect(rig.warnings.contains { $0.contains("before this was done") }, "\(rig.warnings)")
  }

  @Test("R28: a device promised for the end of a take is applied even if a newer change fails")
  func promisedDeviceAfterFailure() {
    let rig = Rig.live()
    rig.set(["input": "b"], gain: 1)
    rig.startTake()
    let take = rig.world.takes[0]
    take.open()
    rig.run(periods: 1)
    rig.endDesign()
    #expect(rig.processor.change?.isPromised == true)
    rig.stopTake()
    rig.run(periods: 1)
    take.phase = .finished(FakeTake.whole)
    let newer = rig.set(["input": "b"], gain: 2)
    rig.world.endDesign(Failure(.failed, "it did not work"))
    rig.processor.poll()
    #expect(newer.status == .failed)
    rig.processor.poll()
    rig.world.client?.endPreparing()
    for _ in 0..<5 { rig.run(periods: 5) }
    #expect(
      rig.processor.inForce.device == Rig.other && rig.processor.inForce.main.gain.value == Rig.decibels(1))
  }
}
