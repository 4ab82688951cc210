import Messages
import Realtime
import TestSupport
import Testing

/// Selections per input, and warnings about input signals.
@Suite("Inputs of the processor") struct InputTests {
  @Test("an input that returns has its last selection")
  func comesBack() {
    let rig = Rig.live()
    #expect(rig.set(["pattern": "cardioid"], gain: 1).outcome == nil)
    rig.run(periods: 3)
    choose("b", rig)
    rig.set(["pattern": "omnidirectional", "orientation": "landscapeLeft"], gain: 2)
    rig.run(periods: 3)
    choose("a", rig)
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    #expect(rig.processor.inForce.main.selection.inputOrientation == .portrait)
    choose("b", rig)
    #expect(rig.processor.inForce.main.selection.polarPattern == .omnidirectional)
    #expect(rig.processor.inForce.main.selection.inputOrientation == .landscapeLeft)
  }

  @Test("settings sent with a new input apply to that input, and the first input's selection stays")
  func wordsWithAnInput() {
    let rig = Rig.live()
    rig.set(["input": "b", "pattern": "cardioid"], gain: 1)
    rig.finishChange()
    #expect(rig.processor.inForce.device == Rig.other)
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    choose("a", rig)
    #expect(rig.processor.inForce.main.selection.polarPattern == .omnidirectional)
  }

  private func choose(_ uid: String, _ rig: Rig) {
    let change = rig.set(["input": uid], gain: 3)
    rig.finishChange()
    #expect(change.status == .done && rig.processor.inForce.device.uid == uid)
  }

  @Test("progress is reported while a design runs, but not while filters are only read")
  func progress() {
    let rig = Rig.live()
    let change = rig.set(["input": "b"], gain: 1)
    rig.advance(.seconds(3))
    #expect(change.progress == [])
    rig.world.designs.first?.job.report(progress: 0)
    rig.advance(.seconds(3))
    #expect(change.progress.first == "designing filters for b")
  }

  // MARK: Warnings

  /// A processor whose two microphones have these levels.
  private func rig(_ levels: [Float]) -> Rig {
    let rig = Rig.live()
    rig.world.client?.readings.microphones = ["one", "two"]
    set(levels, rig)
    return rig
  }

  private func set(_ levels: [Float], _ rig: Rig) {
    rig.world.client?.readings.levels = (levels + [0, 0]).map { Level(rms: $0 / 2, peak: $0) }
  }

  /// The warnings, except those about threads that other tests leave hanging in this process.
  private func reported(_ rig: Rig) -> [String] { rig.warnings.filter { !$0.contains(" thread") } }

  @Test("two microphones with equal levels for half a minute cause no warning about the same signal")
  func symmetry() {
    let rig = rig([0.5, 0.5])
    for _ in 0..<5 {
      set([0.5, 0.5], rig)
      rig.advance(.seconds(30))
      set([0.4, 0.5], rig)
      rig.advance(.seconds(4))
    }
    #expect(!rig.warnings.contains { $0.contains("same signal") }, "\(rig.warnings)")
  }

  @Test("microphones connected to one source are reported within ten seconds, silent or not")
  func patchedTwice() {
    let rig = rig([0, 0])
    rig.world.client?.connections = ["one": ["system:capture_1"], "two": ["system:capture_1"]]
    rig.advance(.seconds(8))
    let sentence = "one and two carry the same signal: both are connected to system:capture_1"
    #expect(reported(rig) == [sentence])
    rig.world.client?.connections = ["one": ["system:capture_1"], "two": ["system:capture_1", "other:out"]]
    rig.advance(.seconds(20))
    #expect(reported(rig) == [sentence])
  }

  @Test("microphones with equal levels from two sources for a minute are reported, despite pauses")
  func alike() {
    let rig = rig([0.5, 0.5])
    rig.world.client?.connections = ["one": ["system:capture_1"], "two": ["system:capture_2"]]
    for _ in 0..<3 {
      set([0.5, 0.5], rig)
      rig.advance(.seconds(18))
      set([0, 0], rig)
      rig.advance(.seconds(18))
    }
    #expect(reported(rig) == [])
    // Levels that differ in one reading of the meters only do not reset the minute.
    set([0.5, 0.4], rig)
    rig.advance(.seconds(2))
    set([0.5, 0.5], rig)
    rig.advance(.seconds(20))
    #expect(reported(rig) == ["one and two have carried the same signal for a minute"])
  }

  @Test("a missing target port of the outputs is reported once")
  func missingMonitor() {
    let rig = rig([0.5, 0.4])
    rig.world.client?.connections = ["one": ["system:capture_1"], "two": ["system:capture_2"]]
    rig.world.client?.missingTargets = ["system:playbck_1"]
    rig.advance(.seconds(30))
    #expect(
      reported(rig).count == 1 && reported(rig)[0].contains("no port system:playbck_1"), "\(reported(rig))")
  }

  @Test("a flickering warning is reported once, and again after a long absence")
  func flickers() {
    let rig = rig([0.5, 0.4])
    func reported() -> Int { rig.warnings.count { $0.contains("one is muted") } }
    for _ in 0..<10 {
      rig.world.client?.readings.mutedMicrophones = ["one"]
      rig.advance(.seconds(2))
      rig.world.client?.readings.mutedMicrophones = []
      rig.advance(.seconds(4))
    }
    #expect(reported() == 1)
    rig.advance(.seconds(30))
    rig.world.client?.readings.mutedMicrophones = ["one"]
    rig.advance(.seconds(2))
    #expect(reported() == 2)
  }
}
