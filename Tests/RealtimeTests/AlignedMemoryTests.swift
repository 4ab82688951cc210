import Foundation
import Realtime
import Testing

/// Memory for the callback.
@Suite("Memory") struct AlignedMemoryTests {
  static let setting = "/sys/kernel/mm/transparent_hugepage/enabled"
  static let haveHugePages =
    (try? String(contentsOfFile: setting, encoding: .utf8))?.contains("[never]") == false

  /// What the kernel was told about the memory at `address`.
  static func flags(at address: UnsafeMutablePointer<Float>) throws -> [Substring] {
    var isMapping = false
    let maps = try #require(try FileHandle(forReadingAtPath: "/proc/self/smaps")?.readToEnd())
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2 { isMapping = (ends[0]..<ends[1]).contains(UInt(bitPattern: address)) }
      if isMapping, words[0] == "VmFlags:" { return Array(words.dropFirst()) }
    }
    return []
  }

  @Test(
    "large blocks begin at a huge page, are zero, and are never gathered into huge pages later",
    .enabled(if: haveHugePages, "this kernel has no huge pages (\(setting))"))
  func largeBlocks() throws {
    let count = (5 << 20) / 4
    let memory = AlignedMemory(count: count)
    defer { memory.free() }
    #expect(UInt(bitPattern: memory.floats) % (2 << 20) == 0)
    #expect((0..<count).allSatisfy { memory.floats[$0] == 0 })
    let flags = try Self.flags(at: memory.floats)
    #expect(flags.contains("nh") && !flags.contains("hg"), "\(flags)")
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
