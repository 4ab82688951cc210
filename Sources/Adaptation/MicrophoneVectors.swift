import Realtime

/// A complex number for each of up to eight microphones; zero beyond the last.
struct MicrophoneVector {
  var re: SIMD8<Float>
  var im: SIMD8<Float>

  static let zero = MicrophoneVector(re: .zero, im: .zero)

  @inline(__always) init(re: SIMD8<Float>, im: SIMD8<Float>) { (self.re, self.im) = (re, im) }

  /// - Parameter pointer: to eight numbers, real and imaginary parts in turn. What lies beyond the last microphone counts for
  ///   nothing where it is multiplied by another vector.
  @inline(__always) init(inTurn pointer: UnsafePointer<Float>) {
    let all = UnsafeRawPointer(pointer).loadUnaligned(as: SIMD16<Float>.self)
    (re, im) = (all.evenHalf, all.oddHalf)
  }

  /// vᴴw
  @inline(__always) func dot(_ w: MicrophoneVector) -> (re: Float, im: Float) {
    ((re * w.re + im * w.im).sum(), (re * w.im - im * w.re).sum())
  }

  /// vᵀw
  @inline(__always) func product(_ w: MicrophoneVector) -> (re: Float, im: Float) {
    ((re * w.re - im * w.im).sum(), (re * w.im + im * w.re).sum())
  }

  /// z v̄
  @inline(__always) func conjugate(times z: (re: Float, im: Float)) -> MicrophoneVector {
    MicrophoneVector(re: z.re * re + z.im * im, im: z.im * re - z.re * im)
  }

  @inline(__always) static func + (v: MicrophoneVector, w: MicrophoneVector) -> MicrophoneVector {
    MicrophoneVector(re: v.re + w.re, im: v.im + w.im)
  }

  @inline(__always) static func * (a: Float, v: MicrophoneVector) -> MicrophoneVector {
    MicrophoneVector(re: a * v.re, im: a * v.im)
  }
}

/// Vectors, or the columns of square matrices one after another, in memory of their own, which `free` gives back.
struct MicrophoneVectors {
  let count: Int
  private let memory: AlignedMemory

  /// The most microphones of a vector.
  static let most = 8

  init(count: Int) {
    self.count = count
    memory = AlignedMemory(count: count * 2 * Self.most)
  }

  func free() { memory.free() }

  private func parts(_ n: Int) -> UnsafeMutablePointer<SIMD8<Float>> {
    UnsafeMutableRawPointer(memory.floats + n * 2 * Self.most).assumingMemoryBound(to: SIMD8<Float>.self)
  }

  subscript(n: Int) -> MicrophoneVector {
    @inline(__always) get { MicrophoneVector(re: parts(n)[0], im: parts(n)[1]) }
    @inline(__always) nonmutating set { (parts(n)[0], parts(n)[1]) = (newValue.re, newValue.im) }
  }

  subscript(n: Int, microphone: Int) -> (re: Float, im: Float) {
    @inline(__always) get {
      let at = memory.floats + n * 2 * Self.most + microphone
      return (at[0], at[Self.most])
    }
    @inline(__always) nonmutating set {
      let at = memory.floats + n * 2 * Self.most + microphone
      (at[0], at[Self.most]) = newValue
    }
  }

  /// The product of a matrix and a vector.
  /// - Parameter first: the matrix's first column.
  /// - Parameter factor: `[column]`
  @inline(__always)
  func times(_ first: Int, _ order: Int, _ factor: (Int) -> (re: Float, im: Float)) -> MicrophoneVector {
    var result = MicrophoneVector.zero
    for column in 0..<order {
      let (c, z) = (self[first + column], factor(column))
      result.re += z.re * c.re - z.im * c.im
      result.im += z.re * c.im + z.im * c.re
    }
    return result
  }

  /// Multiplies all by a factor.
  func scale(_ factor: Float) { for n in 0..<count { self[n] = factor * self[n] } }

  /// - Parameter other: as many.
  func copy(from other: MicrophoneVectors) {
    memory.floats.update(from: other.memory.floats, count: count * 2 * Self.most)
  }

  func clear() { memory.floats.update(repeating: 0, count: count * 2 * Self.most) }
}
