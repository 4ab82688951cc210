import Foundation
import JackWorld
import Presets
import Processor
import TestSupport
import Testing

@Suite("The world of a running Pinna", .timeLimit(.minutes(10))) struct JackWorldTests {
  @Test("R29: while a disk hangs, presets are requested at once; their settings arrive when it answers again")
  func presetsOfAHangingDisk() throws {
    let disk = DispatchSemaphore(value: 0)
    let world = JackWorld(
      .init(name: "pinna", server: nil), library: PresetLibrary(folders: []), events: ControllerEvents(),
      readSetting: { name, _ in
        disk.wait()
        var setting = Rig.setting
        setting.preset = name
        return setting
      })
    let start = ContinuousClock.now
    let jobs = ["slow", "other"].map(world.setting(ofPreset:))
    #expect(ContinuousClock.now - start < Faults.patience(.milliseconds(20)))
    usleep(100_000)
    #expect(jobs.allSatisfy { $0.result == nil })
    for _ in jobs { disk.signal() }
    while !jobs.allSatisfy({ $0.result != nil }) { usleep(500) }
    #expect(try jobs.map { try $0.result?.get().preset } == ["slow", "other"])
  }
}
