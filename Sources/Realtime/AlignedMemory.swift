import Glibc

/// The system gives no more memory, or a limit (`ulimit -v`) forbids it.
public struct OutOfMemory: Error, CustomStringConvertible {
  public let bytes: Int
  public var description: String { "there is no memory for \((bytes + 999_999) / 1_000_000) MB" }
}

/// Zeroed floats on a cache-line boundary, owned and freed by one type.
package struct AlignedMemory {
  package let floats: UnsafeMutablePointer<Float>
  let count: Int
  /// Of a mapping of its own; 0 for memory of the allocator's.
  private let mappedBytes: Int

  package init(count: Int) {
    let raw = UnsafeMutableRawPointer.allocate(byteCount: max(count, 16) * 4, alignment: 64)
    floats = raw.initializeMemory(as: Float.self, repeating: 0, count: max(count, 16))
    self.count = count
    mappedBytes = 0
  }

  /// What is left beside: an allocation that Swift itself makes, and that fails, ends the program.
  private static let headroomBytes = 32 << 20

  /// For large memory that there may be too little for. Every page is touched, so that the callback meets none that the
  /// system still has to find.
  package init(reserving count: Int) throws(OutOfMemory) {
    let bytes = (max(count, 16) * 4 + 4095) / 4096 * 4096
    let all = bytes + Self.headroomBytes
    let memory = mmap(nil, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory, memory != MAP_FAILED else { throw OutOfMemory(bytes: bytes) }
    munmap(memory + bytes, Self.headroomBytes)
    floats = memory.initializeMemory(as: Float.self, repeating: 0, count: bytes / 4)
    self.count = count
    mappedBytes = bytes
  }

  package func free() {
    if mappedBytes > 0 { munmap(floats, mappedBytes) } else { UnsafeMutableRawPointer(floats).deallocate() }
  }
}

/// Vectors of eight floats, the width that every loop here works in.
typealias Lanes = SIMD8<Float>

extension UnsafeMutablePointer<Float> {
  /// The same memory in vectors; the pointer must be 32-byte aligned.
  var lanes: UnsafeMutablePointer<Lanes> {
    @_noLocks @_noAllocation
    get { UnsafeMutableRawPointer(self).assumingMemoryBound(to: Lanes.self) }
  }

  // The standard library's update(from:) and update(repeating:) are not provably free of locks and allocation.

  @_noLocks @_noAllocation
  func copy(from source: UnsafeMutablePointer<Float>, count: Int) {
    var n = 0
    while n < count {
      self[n] = source[n]
      n &+= 1
    }
  }

  @_noLocks @_noAllocation
  func clear(count: Int) {
    var n = 0
    while n < count {
      self[n] = 0
      n &+= 1
    }
  }
}
