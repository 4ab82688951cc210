/// A high-pass of the second order with a Butterworth response: −3 dB at the corner, 12 dB per octave below it.
///
/// The coefficients follow from the analogue prototype by the bilinear transform, prewarped at the corner (Zölzer,
/// *Digital Audio Signal Processing*, 2nd ed., table 5.2).
struct HighPassFilter: BitwiseCopyable {
  /// What remains of a signal from one period to the next, for a pair of outputs. Zeros are silence.
  struct Memory: BitwiseCopyable {
    var first = SIMD2<Double>()
    var second = SIMD2<Double>()

    /// Thread: any.
    @_noLocks @_noAllocation
    init() {}
  }

  /// Numerator: `scale`, −2 `scale`, `scale`. A scale of 0 stands for no filter.
  private let scale: Double
  /// Denominator: 1, `a1`, `a2`.
  private let a1: Double
  private let a2: Double

  /// Passes everything.
  static let off = HighPassFilter(corner: 0, sampleRate: 1)

  /// Thread: any.
  /// - Parameter corner: in hertz, below half the sample rate; 0 for no filter.
  @_noLocks @_noAllocation
  init(corner: Double, sampleRate: Double) {
    let k = ProcessorCalls.tangent(Double.pi * corner / sampleRate)
    // The square root of 2, whose function the realtime checks do not know.
    let root = 0x1.6a09e667f3bcdp0
    let norm = 1 / (1 + root * k + k * k)
    scale = corner > 0 ? norm : 0
    a1 = 2 * (k * k - 1) * norm
    a2 = (1 - root * k + k * k) * norm
  }

  /// Whether it changes a signal.
  ///
  /// Thread: any.
  var isOn: Bool {
    @_noLocks @_noAllocation get { scale != 0 }
  }

  /// Whether both do the same. Not `==`, whose generic forms may allocate metadata in a debug build.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  func equals(_ other: HighPassFilter) -> Bool { scale == other.scale && a1 == other.a1 }

  /// Filters `count` frames in place: transposed direct form II, in double precision, because in single precision a
  /// corner of 20 Hz at 192 kHz adds audible noise.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func process(_ signal: OutputPair, count: Int, memory: inout Memory) {
    guard isOn else { return }
    var (first, second) = (memory.first, memory.second)
    var n = 0
    while n < count {
      let input = SIMD2(Double(signal.left[n]), Double(signal.right[n]))
      let scaled = input * scale
      let output = scaled + first
      first = second - scaled - scaled - output * a1
      second = scaled - output * a2
      signal.left[n] = Float(output.x)
      signal.right[n] = Float(output.y)
      n &+= 1
    }
    memory.first = first
    memory.second = second
  }
}
