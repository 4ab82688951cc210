import Glibc
import Synchronization

/// The system has no more memory, or a limit (`ulimit -v`) forbids it.
public struct OutOfMemory: Error, CustomStringConvertible {
  public let bytes: Int
  public var description: String { "there is no memory for \((bytes + 999_999) / 1_000_000) MB" }
}

/// Zeroed floats, aligned to a cache line (64 bytes). The type that holds it calls `free` exactly once.
package struct AlignedMemory {
  package let floats: UnsafeMutablePointer<Float>
  let count: Int
  /// Size of the mapping; 0 for memory from the allocator.
  private let mappedBytes: Int

  /// Bytes in mappings of their own, which the allocator's statistics do not contain.
  package static let mappedBytesInUse = Atomic<Int>(0)

  private static let hugePageBytes = 2 << 20

  /// Memory from the allocator, or from `mapHugePages` where a huge page is filled. The program ends if there is no
  /// memory left.
  ///
  /// Thread: any but the callback's.
  package init(count: Int) {
    let bytes = max(count, 16) * 4
    self.count = count
    if bytes >= Self.hugePageBytes, let (memory, size) = Self.mapHugePages(bytes) {
      (floats, mappedBytes) = (memory, size)
      return
    }
    let raw = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
    floats = raw.initializeMemory(as: Float.self, repeating: 0, count: bytes / 4)
    mappedBytes = 0
  }

  /// Zeroed memory at a multiple of 2 MB, in huge pages where the kernel has some: fewer TLB misses.
  ///
  /// Thread: any but the callback's.
  /// - Returns: the memory, and the size of its mapping; nil if there is no memory left.
  private static func mapHugePages(_ bytes: Int) -> (UnsafeMutablePointer<Float>, Int)? {
    let size = (bytes + 4095) / 4096 * 4096
    let mapping = mmap(
      nil, size + hugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapping, mapping != MAP_FAILED else { return nil }
    let unused = -Int(bitPattern: mapping) & (hugePageBytes - 1)
    let memory = mapping + unused
    if unused > 0 { munmap(mapping, unused) }
    munmap(memory + size, hugePageBytes - unused)
    // A hint: where the kernel has no huge pages, the pages are ordinary ones.
    madvise(memory, size, MADV_HUGEPAGE)
    return (fill(memory, size), size)
  }

  /// Touches every page of a new mapping, so that the callback never causes a page fault, and forbids the kernel to merge
  /// pages from then on, because the callback would wait for that.
  ///
  /// Thread: any but the callback's.
  private static func fill(_ memory: UnsafeMutableRawPointer, _ bytes: Int) -> UnsafeMutablePointer<Float> {
    let floats = memory.initializeMemory(as: Float.self, repeating: 0, count: bytes / 4)
    madvise(memory, bytes, MADV_NOHUGEPAGE)
    mappedBytesInUse.add(bytes, ordering: .relaxed)
    return floats
  }

  /// Bytes that must remain available for Swift's own allocations, which end the program when they fail.
  private static let headroomBytes = 32 << 20

  /// A large block in a mapping of its own.
  ///
  /// Thread: any but the callback's.
  package init(reserving count: Int) throws(OutOfMemory) {
    let bytes = (max(count, 16) * 4 + 4095) / 4096 * 4096
    let all = bytes + Self.headroomBytes
    let memory = mmap(nil, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory, memory != MAP_FAILED else { throw OutOfMemory(bytes: bytes) }
    munmap(memory + bytes, Self.headroomBytes)
    floats = Self.fill(memory, bytes)
    self.count = count
    mappedBytes = bytes
  }

  /// Thread: any but the callback's.
  package func free() {
    guard mappedBytes > 0 else { return UnsafeMutableRawPointer(floats).deallocate() }
    munmap(floats, mappedBytes)
    Self.mappedBytesInUse.subtract(mappedBytes, ordering: .relaxed)
  }
}

/// The vector that the loops of this module use. The kernels have their own (`Kernels/Lanes.swift`).
typealias Lanes = SIMD8<Float>

extension UnsafeMutablePointer<Float> {
  /// The same memory as vectors. The pointer must be aligned to 32 bytes.
  ///
  /// Thread: any.
  var lanes: UnsafeMutablePointer<Lanes> {
    @_noLocks @_noAllocation
    get { UnsafeMutableRawPointer(self).assumingMemoryBound(to: Lanes.self) }
  }

  // The compiler cannot prove that the standard library's update(from:) and update(repeating:) neither lock nor
  // allocate.

  /// Thread: any.
  @_noLocks @_noAllocation
  func copy(from source: UnsafePointer<Float>, count: Int) {
    var n = 0
    while n < count {
      self[n] = source[n]
      n &+= 1
    }
  }

  /// Thread: any.
  @_noLocks @_noAllocation
  func clear(count: Int) {
    var n = 0
    while n < count {
      self[n] = 0
      n &+= 1
    }
  }
}
