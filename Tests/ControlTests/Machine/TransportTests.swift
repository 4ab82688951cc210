import Foundation
import Messages
import Processor
import Realtime
import Recording
import Settings
import Testing

@Suite("Takes that follow the transport") struct TransportTests {
  /// A processor with an armed take, and the answer to the request for it.
  private func armed() -> (rig: Rig, take: FakeTake, start: Rig.SentRequest) {
    let rig = Rig.live()
    let start = rig.armTake()
    rig.open(rig.world.takes[0])
    rig.run(periods: 1)
    return (rig, rig.world.takes[0], start)
  }

  @Test(
    "an armed take is answered and shown as armed, begins when the transport rolls, and ends when it stops")
  func rolls() {
    let (rig, take, start) = armed()
    #expect(start.status == .done && start.answer["armed"] as? Bool == true)
    #expect(rig.processor.state.kind == .armed && rig.status.state == .armed)
    #expect(rig.status.take?.path == take.path)
    rig.advance(.seconds(3600))
    #expect(rig.processor.state.kind == .armed, "an armed take waits without a limit")
    rig.world.client?.isRolling = true
    rig.run(periods: 1)
    #expect(rig.processor.state.kind == .recording && rig.status.state == .recording)
    rig.world.client?.isRolling = false
    rig.run(periods: 1)
    #expect(rig.processor.state.kind == .live && !take.isDiscarded && !take.isAbandoned)
    rig.finish(take)
    #expect(rig.world.client?.engine?.isRecording == false)
  }

  @Test("record stop after the transport ended a take answers with that take, whether on disk yet or not")
  func stopAfterwards() {
    let (rig, take, _) = armed()
    for rolls in [true, false] {
      rig.world.client?.isRolling = rolls
      rig.run(periods: 1)
    }
    let early = rig.stopTake()
    #expect(early.outcome == nil)
    rig.finish(take)
    let late = rig.stopTake()
    for stop in [early, late] {
      #expect(stop.status == .done && stop.answer["take"] as? String == FakeTake.whole.path)
      #expect((stop.answer["notes"] as? [String])?.contains { $0.contains("transport") } == true)
    }
  }

  @Test(
    "a take that ended with the transport and is incomplete makes record stop, and the run, end with status 7"
  )
  func incomplete() {
    let (rig, take, _) = armed()
    for rolls in [true, false] {
      rig.world.client?.isRolling = rolls
      rig.run(periods: 1)
    }
    rig.finish(take, FakeTake.incomplete)
    #expect(rig.stopTake().status == .incompleteTake && ExitStatus.incompleteTake.rawValue == 7)
    #expect(rig.processor.takes.outcome.earlierIncomplete == FakeTake.incomplete.path)
  }

  @Test("record stop disarms: it is answered with status 0, and no file is left")
  func disarm() {
    let (rig, take, _) = armed()
    let stop = rig.stopTake()
    rig.run(periods: 1)
    #expect(take.isDiscarded && rig.processor.state.kind == .live)
    #expect(stop.outcome == nil, "the files are not gone yet")
    #expect(rig.status.closingTakes.isEmpty, "nothing is being written")
    rig.finish(take)
    #expect(stop.status == .done && stop.answer["disarmed"] as? String == take.path)
    #expect(rig.processor.takes.closing.isEmpty && rig.stopTake().text.contains("nothing is being recorded"))
    rig.world.client?.isRolling = true
    rig.run(periods: 3)
    #expect(rig.world.client?.engine?.isRecording == false && rig.processor.state.kind == .live)
    let next = rig.record()
    #expect(next !== take && rig.processor.state.kind == .recording)
  }

  @Test("a disk that does not remove the files of a disarmed take is waited for at most ten seconds")
  func hungDisk() {
    let (rig, take, _) = armed()
    let stop = rig.stopTake()
    rig.run(periods: 1)
    take.unansweredFor = .seconds(11)
    rig.processor.poll()
    #expect(stop.status == .failed && stop.text.contains("not removed yet"), "\(stop.text)")
    let next = rig.set([:], gain: 1)
    rig.run(periods: 3)
    #expect(next.status == .done)
  }

  @Test("a take that begins while it is being disarmed is kept")
  func disarmRace() {
    let (rig, take, _) = armed()
    // The transport rolls in a period that ends before the callback sees the request to end.
    rig.world.client?.isRolling = true
    rig.world.client?.run(periods: 1)
    let stop = rig.stopTake()
    rig.run(periods: 1)
    #expect(!take.isDiscarded && rig.processor.takes.closing.count == 1)
    rig.finish(take)
    #expect(stop.status == .done && stop.answer["take"] as? String == FakeTake.whole.path)
  }

  @Test(
    "S13: while a take is armed every change is refused, with the path and the remedy, and nothing changes")
  func locked() {
    let (rig, take, _) = armed()
    let before = rig.processor.wanted
    for refused in [
      rig.set([:], gain: 1), rig.set(["pattern": "cardioid"], gain: 2), rig.set(["input": "b"], gain: 3),
      rig.startTake(), rig.armTake(), rig.play(), rig.requestPeriod(),
    ] {
      #expect(refused.status == .refused, "\(refused.event)")
      #expect(
        refused.text.contains(take.path!) && refused.text.contains("pinna record stop"), "\(refused.text)")
    }
    rig.run(periods: 5)
    #expect(rig.processor.wanted == before && rig.world.client?.audibleSetting == before)
  }

  @Test("a transport that rolls already begins the take at once, and the answer says that it is recording")
  func rollingAlready() {
    let rig = Rig.live()
    rig.world.client?.isRolling = true
    let start = rig.armTake()
    rig.open(rig.world.takes[0])
    rig.run(periods: 1)
    #expect(start.status == .done && start.answer["armed"] == nil)
    #expect(rig.processor.state.kind == .recording)
  }

  @Test(
    "a lost server, another sample rate and a stop leave no file of an armed take; the operator is told why")
  func givenUp() {
    for end in ["server", "rate", "stop"] {
      let (rig, take, _) = armed()
      switch end {
      case "server": rig.world.client?.loss = .server("it was killed")
      case "rate": rig.world.client?.sampleRate = 44100
      default: rig.stop()
      }
      rig.advance(.milliseconds(1500))
      #expect(take.isDiscarded, "\(end)")
      rig.finish(take)
      #expect(rig.processor.takes.closing.isEmpty && rig.processor.takes.outcome.areComplete, "\(end)")
      #expect(rig.processor.isStopped == (end == "stop"), "\(end)")
      #expect(rig.processor.state.take == nil, "\(end)")
      if end != "stop" {
        #expect(
          rig.warnings.contains { $0.contains("no longer armed") && $0.contains("because") },
          "\(rig.warnings)")
      }
    }
  }

  @Test("a plain take ignores the transport")
  func plain() {
    let rig = Rig.live()
    rig.world.client?.isRolling = true
    _ = rig.record()
    rig.world.client?.isRolling = false
    rig.run(periods: 5)
    #expect(rig.processor.state.kind == .recording)
  }
}
