import Realtime
import TestSupport
import Testing

@Suite("Processor caches") struct ProcessorCachesTests {
  @Test("data and unified caches are read by level; what the system does not say is missing, and 1 MB")
  func sizes() throws {
    let folder = try TemporaryFolder()
    for (index, level, type, size, cores) in [
      (0, 1, "Data", "32K", "0"), (1, 1, "Instruction", "64K", "0"), (2, 2, "Unified", "2M", "0-1"),
      (3, 3, "Unified", "32768K", "0-3"),
    ] {
      for (name, text) in [("level", "\(level)"), ("type", type), ("size", size), ("shared_cpu_list", cores)]
      {
        try folder.write(text + "\n", to: "index\(index)/\(name)")
      }
    }
    let caches = ProcessorCaches(folder.path)
    #expect(caches.bytes == [1: 32 << 10, 2: 2 << 20, 3: 32 << 20])
    #expect(caches.cores == [1: "0", 2: "0-1", 3: "0-3"])
    let none = ProcessorCaches(folder.path + "/none")
    #expect(none.bytes.isEmpty && none.secondLevel == 1 << 20 && none.lastLevelShare == 16 << 20)
    // The last level is shared; a processor without a third level has its second.
    #expect(caches.lastLevelShare == 16 << 20)
    let small = try TemporaryFolder()
    for (name, text) in [("level", "2"), ("type", "Unified"), ("size", "512K")] {
      try small.write(text, to: "index0/\(name)")
    }
    #expect(ProcessorCaches(small.path).lastLevelShare == 512 << 10)
  }

  @Test("sizes are read as people write them; others are refused")
  func text() {
    let sizes: [Int?] = [512 << 10, 2 << 20, 1 << 30, 4096]
    #expect(["512K", "2M", "1G", "4096"].map(ProcessorCaches.size) == sizes)
    #expect(["", "K", "large", "99999999999G"].allSatisfy { ProcessorCaches.size($0) == nil })
  }
}
