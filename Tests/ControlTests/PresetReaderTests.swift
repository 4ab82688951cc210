import Control
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Presets from a disk that may hang") struct PresetReaderTests {
  @Test(
    "R29: a disk that hangs holds the control thread for 50 ms once, and not at all after that",
    .timeLimit(.minutes(1)))
  func hangs() throws {
    let disk = Disk()
    let reader = PresetReader(disk.read)
    #expect(try reader.setting(ofPreset: "quick").preset == "quick")

    disk.hangs.store(true, ordering: .relaxed)
    let first = try timed { try reader.setting(ofPreset: "slow") }
    #expect(first >= .milliseconds(50) && first < Faults.patience(.milliseconds(100)), "\(first)")
    _ = try timed { try reader.setting(ofPreset: "other") }
    #expect(disk.reads.load(ordering: .relaxed) == 2)

    disk.hangs.store(false, ordering: .relaxed)
    var again: String?
    while again == nil { again = (try? reader.setting(ofPreset: "again"))?.preset }
    #expect(again == "again")
  }

  /// How long a read takes that must fail for want of the disk.
  private func timed(_ read: () throws -> Setting) throws -> Duration {
    let start = ContinuousClock.now
    let failure = #expect(throws: Failure.self) { _ = try read() }
    #expect(failure?.description.contains("the disk has not brought the preset") ?? false)
    return ContinuousClock.now - start
  }

  private final class Disk: Sendable {
    let hangs = Atomic<Bool>(false)
    let reads = Atomic<Int>(0)

    @Sendable func read(_ name: String) -> Setting {
      reads.wrappingAdd(1, ordering: .relaxed)
      while hangs.load(ordering: .relaxed) { usleep(1000) }
      var setting = Rig.setting
      setting.preset = name
      return setting
    }
  }
}
