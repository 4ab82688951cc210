/// Zeroed floats on a cache-line boundary, owned and freed by one type.
package struct AlignedMemory {
  package let floats: UnsafeMutablePointer<Float>
  let count: Int

  package init(count: Int) {
    let raw = UnsafeMutableRawPointer.allocate(byteCount: max(count, 16) * 4, alignment: 64)
    floats = raw.initializeMemory(as: Float.self, repeating: 0, count: max(count, 16))
    self.count = count
  }

  package func free() { UnsafeMutableRawPointer(floats).deallocate() }
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
