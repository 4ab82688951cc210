import Synchronization

/// Microphones × outputs FIR filters: the engine's only notion of a polar pattern. Immutable for the callback.
///
/// A set holds its spectra for up to two periods at once, one generation each. The sets in use are therefore already
/// prepared when the period changes. The callback reads the generation of its convolver; the control side writes only
/// the other one (see `Engine.prepare`).
public final class FilterSet: @unchecked Sendable {
  private static let lastSerial = Atomic<Int>(0)

  // Unchecked: only the control side uses `prepared`, under the engine's control lock; the callback reads the two
  // addresses.

  /// Unique within the process. An address is not: the next set may be allocated at the same one.
  let serial = FilterSet.lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
  public let microphones: Int
  public let taps: Int
  /// 1 for a mono pattern, which a feed with two outputs plays on both.
  public let outputs: Int
  /// Shape: `[output][microphone][tap]`.
  let coefficients: [[[Float]]]
  /// Spectra by generation. `ConvolverLayout` defines the shape.
  ///
  /// Scale: 1/bins, because the inverse FFT is unscaled. The tail has a further factor of one over the size of its FFT.
  private var prepared: [(layout: ConvolverLayout, spectra: AlignedMemory)?] = [nil, nil]
  /// Address of generation 0's spectra; 0 for none. Two separate atomics, because one is written while the callback
  /// reads the other.
  private let firstAddress = Atomic<UInt>(0)
  /// Address of generation 1's spectra; 0 for none.
  private let secondAddress = Atomic<UInt>(0)

  /// Thread: any but the callback's.
  /// - Parameter coefficients: shape `[output][microphone][tap]`, all filters of the same length.
  public init(coefficients: [[[Float]]]) {
    precondition((1...2 * FeedTable.mostPairs).contains(coefficients.count))
    let (microphones, taps) = (coefficients[0].count, coefficients[0][0].count)
    precondition(coefficients.allSatisfy { $0.count == microphones && $0.allSatisfy { $0.count == taps } })
    self.coefficients = coefficients
    outputs = coefficients.count
    self.microphones = microphones
    self.taps = taps
  }

  deinit { for generation in prepared { generation?.spectra.free() } }

  /// Outputs are computed in pairs. The last one of an odd number has filters of zeros beside it.
  var pairs: Int { (outputs + 1) / 2 }

  /// The spectra of a generation, pair by pair, `ConvolverLayout.filterFloats` each; nil if it was never prepared.
  ///
  /// Thread: JACK's realtime thread (process callback), or the control side.
  @_noLocks @_noAllocation
  func spectra(generation: Int) -> UnsafeMutablePointer<Float>? {
    // Acquiring: the spectra are visible before their address is.
    let address =
      generation == 0 ? firstAddress.load(ordering: .acquiring) : secondAddress.load(ordering: .acquiring)
    return UnsafeMutableRawPointer(bitPattern: address)?.assumingMemoryBound(to: Float.self)
  }

  /// Partitions and transforms the filters for `layout`, unless that has been done. The callback must not be reading
  /// this generation.
  ///
  /// Thread: control side.
  func prepare(_ layout: ConvolverLayout, generation: Int) {
    let old = prepared[generation]
    guard old?.layout != layout else { return }
    let partitioned = partitioned(layout)
    prepared[generation] = (layout, partitioned)
    let address = UInt(bitPattern: partitioned.floats)
    if generation == 0 {
      firstAddress.store(address, ordering: .releasing)
    } else {
      secondAddress.store(address, ordering: .releasing)
    }
    old?.spectra.free()
  }

  /// Cuts the filters into partitions of one period, and transforms them.
  ///
  /// Thread: control side.
  private func partitioned(_ layout: ConvolverLayout) -> AlignedMemory {
    let plan = layout.plan
    precondition(plan.microphones == microphones && plan.taps == taps)
    let memory = AlignedMemory(count: pairs * layout.filterFloats)
    let transform = FourierTransform(size: layout.bins)
    let re = AlignedMemory(count: layout.bins)
    let im = AlignedMemory(count: layout.bins)
    defer {
      transform.free()
      re.free()
      im.free()
    }
    // The weights of the kernels' transform (Analysis.swift), scaled.
    let weights = (0..<layout.bins).map { n -> (re: Float, im: Float) in
      let weight = TransformTables.root(n, of: 4 * layout.bins)
      return (re: weight.re / Float(layout.bins), im: weight.im / Float(layout.bins))
    }
    // Twiddle factors of the tail's FFT, whose inverse is unscaled.
    let tailSize = layout.tailTransformSize
    let twiddles = (0..<tailSize).map { n -> (re: Float, im: Float) in
      let root = TransformTables.root(-n, of: tailSize)
      return (root.re / Float(tailSize), root.im / Float(tailSize))
    }
    for partition in 0..<plan.partitions {
      let first = partition * plan.period
      let last = min(first + plan.period, taps)
      for output in 0..<outputs {
        let pair = memory.floats + output / 2 * layout.filterFloats
        for microphone in 0..<microphones {
          re.floats.update(repeating: 0, count: layout.bins)
          im.floats.update(repeating: 0, count: layout.bins)
          for n in first..<last {
            let h = coefficients[output][microphone][n]
            re.floats[n - first] = h * weights[n - first].re
            im.floats[n - first] = h * weights[n - first].im
          }
          transform.forward(re.floats, im.floats)
          for bin in 0..<layout.bins {
            if partition < layout.headPartitions {
              let at = layout.offset(
                output: output % 2, microphone: microphone, partition: partition, bin: bin)
              pair[at] = re.floats[bin]
              pair[at + layout.lanes] = im.floats[bin]
            } else {
              let (block, n) = (partition - layout.block).quotientAndRemainder(dividingBy: layout.block)
              for frequency in 0..<tailSize {
                let at = layout.offset(
                  output: output % 2, microphone: microphone, block: block, frequency: frequency, bin: bin)
                let (c, s) = twiddles[n * frequency % tailSize]
                pair[at] += c * re.floats[bin] - s * im.floats[bin]
                pair[at + layout.lanes] += c * im.floats[bin] + s * re.floats[bin]
              }
            }
          }
        }
      }
    }
    return memory
  }
}
