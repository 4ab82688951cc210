import Diagnosis
import Foundation
import TestSupport
import Testing

@Suite("what pinna doctor finds on the disk for takes") struct DiskTests {
  static func marks(free: Double = 1e11, speed: Double?, obstacle: String? = nil) -> [Finding.Mark] {
    DiskState.findings(DiskState(folder: "/takes", free: free, speed: speed, obstacle: obstacle)).map(\.mark)
  }

  @Test("the speed is judged against 64 raw microphones and against five")
  func speed() {
    #expect(Self.marks(speed: 200e6) == [.ok, .ok])
    #expect(Self.marks(speed: 15e6) == [.warning, .ok])
    #expect(Self.marks(speed: 1e6) == [.fault, .ok])
    #expect(Self.marks(speed: nil) == [.fault, .ok])
    #expect(Self.marks(speed: nil, obstacle: "Permission denied") == [.fault, .ok])
    #expect(DiskState.findings(nil).map(\.mark) == [.fault])
  }

  @Test("little room is a warning, none a fault; the finding says how long a take may be")
  func room() {
    #expect(Self.marks(free: 1e9, speed: 200e6) == [.ok, .warning])
    #expect(Self.marks(free: 5e7, speed: 200e6) == [.ok, .fault])
    let findings = DiskState.findings(DiskState(folder: "/takes", free: 13.824e9, speed: 1e8))
    #expect(findings[1].found == "13824 MB in /takes: 10.0 hours of left and right at 48 kHz")
  }

  @Test("a real folder is measured, also where it does not exist yet, and nothing is left in it")
  func measured() throws {
    let folder = try TemporaryFolder()
    let path = folder.path
    let state = try #require(DiskState.measured { path + "/not/yet" })
    #expect(state.folder == path && state.obstacle == nil && state.free > 0, "\(state)")
    #expect(state.speed ?? 0 > 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
  }

  @Test("a disk that hangs does not hang the check")
  func hung() {
    let start = ContinuousClock.now
    let state = DiskState.measured(within: .milliseconds(100)) {
      sleep(3)
      return "/tmp"
    }
    #expect(state == nil && ContinuousClock.now - start < .seconds(2))
  }
}
