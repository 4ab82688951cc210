import Foundation
import Realtime
import Testing

/// Memory for the callback.
@Suite("Memory") struct AlignedMemoryTests {
  /// What the kernel says about the mapping that holds `address`, by field; nil if there is none.
  static func mapping(at address: UnsafeRawPointer) throws -> [String: [Substring]]? {
    let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
    var fields: [String: [Substring]] = [:]
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2 {
        if !fields.isEmpty { return fields }
        if (ends[0]..<ends[1]).contains(UInt(bitPattern: address)) { fields["Ends:"] = [words[0]] }
      } else if !fields.isEmpty {
        fields[String(words[0])] = Array(words.dropFirst())
      }
    }
    return fields.isEmpty ? nil : fields
  }

  /// Kilobytes in huge pages of a mapping of 8 MB that asks for them; 0 where the kernel is configured without, or has none
  /// left.
  static func kilobytesOfHugePages() throws -> Int {
    let size = 8 << 20
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let mapped = try #require(memory != MAP_FAILED ? memory : nil)
    defer { munmap(mapped, size) }
    madvise(mapped, size, MADV_HUGEPAGE)
    memset(mapped, 1, size)
    return Int(try mapping(at: mapped)?["AnonHugePages:"]?.first ?? "0") ?? 0
  }

  @Test(
    "large blocks are in memory whole, in huge pages where there are some, and their pages are not merged later"
  )
  func largeBlocks() throws {
    let bytes = 5 << 20
    let before = try Self.kilobytesOfHugePages()
    let memory = AlignedMemory(count: bytes / 4)
    defer { memory.free() }
    #expect(UInt(bitPattern: memory.floats) % (2 << 20) == 0)
    let mapping = try #require(try Self.mapping(at: memory.floats))
    let resident = try #require(Int(mapping["Rss:"]?.first ?? ""))
    #expect(resident >= bytes / 1024, "\(mapping)")
    if FileManager.default.fileExists(atPath: "/sys/kernel/mm/transparent_hugepage") {
      #expect(mapping["VmFlags:"]?.contains("nh") == true, "\(mapping)")
    }
    if before >= 4096, try Self.kilobytesOfHugePages() >= 4096 {
      #expect(mapping["AnonHugePages:"]?.first.flatMap { Int($0) } ?? 0 >= 4096, "\(mapping)")
    }
  }

  @Test("a block of 256 MB counts as mapped")
  func countsAsMapped() {
    let before = AlignedMemory.mappedBytesInUse.load(ordering: .relaxed)
    let memory = AlignedMemory(count: 64 << 20)
    // Other tests hold less than half of that.
    #expect(AlignedMemory.mappedBytesInUse.load(ordering: .relaxed) - before > 128 << 20)
    memory.free()
    #expect(AlignedMemory.mappedBytesInUse.load(ordering: .relaxed) - before < 128 << 20)
  }

  @Test(
    "blocks of any size are aligned to a cache line and zero",
    arguments: [0, 1, 17, 1 << 19 - 1, 1 << 19, 600_001])
  func anySize(count: Int) {
    let memory = AlignedMemory(count: count)
    defer { memory.free() }
    #expect(UInt(bitPattern: memory.floats) % 64 == 0)
    #expect((0..<count).allSatisfy { memory.floats[$0] == 0 })
  }
}
