/// Cuts filters into partitions of one period and transforms them, for one layout: its FFT, weights and work areas, so
/// that sets of filters that follow the sound can be transformed without an allocation.
///
/// One thread at a time uses it.
final class FilterTransform: @unchecked Sendable {
  // Unchecked: it belongs to whoever holds the lock of its owner.

  let layout: ConvolverLayout
  private let fft: FourierTransform
  private let re: AlignedMemory
  private let im: AlignedMemory
  /// The weights of the kernels' transform (Analysis.swift), scaled. Shape: `[re, im][bin]`.
  private let weights: AlignedMemory
  /// Twiddle factors of the tail's FFT, whose inverse is unscaled.
  private let tailTwiddles: [(re: Float, im: Float)]

  /// Thread: any but the callback's.
  init(_ layout: ConvolverLayout) {
    let bins = layout.bins
    self.layout = layout
    fft = FourierTransform(size: bins)
    re = AlignedMemory(count: bins)
    im = AlignedMemory(count: bins)
    weights = AlignedMemory(count: 2 * bins)
    for n in 0..<bins {
      let weight = TransformTables.root(n, of: 4 * bins)
      weights.floats[n] = weight.re / Float(bins)
      weights.floats[bins + n] = weight.im / Float(bins)
    }
    let tailSize = layout.tailTransformSize
    tailTwiddles = (0..<tailSize).map { n in
      let root = TransformTables.root(-n, of: tailSize)
      return (root.re / Float(tailSize), root.im / Float(tailSize))
    }
  }

  deinit {
    fft.free()
    re.free()
    im.free()
    weights.free()
  }

  /// Transforms filters for all outputs.
  ///
  /// Thread: the one that uses it.
  /// - Parameters:
  ///   - coefficients: shape `[output][microphone][tap]`.
  ///   - spectra: pair by pair of outputs, `ConvolverLayout.filterFloats` each. Of lanes and outputs that the layout leaves
  ///     unused, nothing is written: they must be zero.
  func transform(_ coefficients: UnsafePointer<Float>, outputs: Int, to spectra: UnsafeMutablePointer<Float>)
  {
    let plan = layout.plan
    for output in 0..<outputs {
      let pair = spectra + output / 2 * layout.filterFloats
      if layout.blocks > 0, output % 2 == 0 { (pair + layout.headFloats).clear(count: layout.tailFloats) }
      for microphone in 0..<plan.microphones {
        let filter = coefficients + (output * plan.microphones + microphone) * plan.taps
        for partition in 0..<plan.partitions {
          transform(filter, partition)
          if partition < layout.headPartitions {
            storeHead(pair, output % 2, microphone, partition)
          } else {
            addToTail(pair, output % 2, microphone, partition)
          }
        }
      }
    }
  }

  /// Transforms one partition, into the work areas.
  private func transform(_ filter: UnsafePointer<Float>, _ partition: Int) {
    let plan = layout.plan
    let first = partition * plan.period
    let count = min(plan.period, plan.taps - first)
    let (weightRe, weightIm) = (weights.floats, weights.floats + layout.bins)
    for n in 0..<count {
      let h = filter[first + n]
      re.floats[n] = h * weightRe[n]
      im.floats[n] = h * weightIm[n]
    }
    (re.floats + count).clear(count: layout.bins - count)
    (im.floats + count).clear(count: layout.bins - count)
    fft.forward(re.floats, im.floats)
  }

  private func storeHead(
    _ spectra: UnsafeMutablePointer<Float>, _ output: Int, _ microphone: Int, _ partition: Int
  ) {
    // Where lanes are bins, a vector holds neighbouring ones; where they are microphones, every bin has a vector.
    let (lanes, run) = (layout.lanes, layout.lanesAreMicrophones ? 1 : layout.lanes)
    for bin in stride(from: 0, to: layout.bins, by: run) {
      let at = layout.offset(output: output, microphone: microphone, partition: partition, bin: bin)
      let (target, real, imaginary) = (spectra + at, re.floats + bin, im.floats + bin)
      for n in 0..<run {
        target[n] = real[n]
        target[lanes + n] = imaginary[n]
      }
    }
  }

  private func addToTail(
    _ spectra: UnsafeMutablePointer<Float>, _ output: Int, _ microphone: Int, _ partition: Int
  ) {
    let tailSize = layout.tailTransformSize
    let (block, n) = (partition - layout.block).quotientAndRemainder(dividingBy: layout.block)
    for bin in 0..<layout.bins {
      for frequency in 0..<tailSize {
        let at = layout.offset(
          output: output, microphone: microphone, block: block, frequency: frequency, bin: bin)
        let (c, s) = tailTwiddles[n * frequency % tailSize]
        spectra[at] += c * re.floats[bin] - s * im.floats[bin]
        spectra[at + layout.lanes] += c * im.floats[bin] + s * re.floats[bin]
      }
    }
  }
}
