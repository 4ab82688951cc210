import Foundation
import JackWorld
import Processor
import Synchronization
import TestSupport
import Testing

@Suite("Reading presets from a disk that may hang") struct PresetReaderTests {
  @Test("R29: a hanging disk blocks nobody, and its presets arrive when it answers again")
  func hangs() throws {
    let disk = Disk()
    let reader = PresetReader(disk.read)
    #expect(try result(of: reader.setting(ofPreset: "quick")).preset == "quick")

    disk.hangs.store(true, ordering: .relaxed)
    let start = ContinuousClock.now
    let jobs = ["slow", "other"].map(reader.setting)
    #expect(ContinuousClock.now - start < Faults.patience(.milliseconds(20)))
    usleep(100_000)
    #expect(jobs.allSatisfy { $0.result == nil })
    disk.hangs.store(false, ordering: .relaxed)
    #expect(try jobs.map { try result(of: $0).preset } == ["slow", "other"])
  }

  private func result(of job: Job<Setting>) throws -> Setting {
    let end = ContinuousClock.now + .seconds(10)
    while job.result == nil, .now < end { usleep(1000) }
    return try #require(job.result).get()
  }

  private final class Disk: Sendable {
    let hangs = Atomic<Bool>(false)

    @Sendable func read(_ name: String) -> Setting {
      while hangs.load(ordering: .relaxed) { usleep(1000) }
      var setting = Rig.setting
      setting.preset = name
      return setting
    }
  }
}
