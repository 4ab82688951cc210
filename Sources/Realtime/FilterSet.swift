/// Microphones × 2 FIR filters: the engine's only notion of a pattern. Immutable to the callback.
///
/// A set carries its spectra for up to two periods at once, so that a change of period finds the sets that are
/// sounding already cut for it. Which of the two the callback reads is the convolver's `generation`; the
/// control side writes only the other one (see `Engine.prepare`).
public final class FilterSet: @unchecked Sendable {
  // Unchecked: `spectra` is written by the control side under the engine's control lock, in the generation
  // that the callback does not read; the callback is the only reader.

  public let microphones: Int
  public let taps: Int
  /// Channels of what comes out: 1 where left and right are the same.
  public let channels: Int
  /// Shape: `[output][microphone][tap]`.
  private let coefficients: [[[Float]]]
  private var partitionings: (Partitioning?, Partitioning?) = (nil, nil)
  /// Shape: `[partition][output][microphone][re, im][bin]`, scaled by 1/transformSize.
  private var spectra: (AlignedMemory?, AlignedMemory?) = (nil, nil)

  /// - Parameter coefficients: Shape `[output][microphone][tap]`, two outputs, every filter equally long.
  public init(coefficients: [[[Float]]], channels: Int) {
    precondition(coefficients.count == 2 && coefficients[0].count == coefficients[1].count)
    let taps = coefficients[0][0].count
    precondition(coefficients.allSatisfy { $0.allSatisfy { $0.count == taps } })
    self.coefficients = coefficients
    self.channels = channels
    microphones = coefficients[0].count
    self.taps = taps
  }

  deinit {
    spectra.0?.free()
    spectra.1?.free()
  }

  /// What the callback reads.
  @_noLocks @_noAllocation
  func spectra(generation: Int) -> UnsafeMutablePointer<Float>? {
    generation == 0 ? spectra.0?.floats : spectra.1?.floats
  }

  /// Control side: cuts the filters for `partitioning`, unless they are already.
  func prepare(_ partitioning: Partitioning, generation: Int) {
    guard (generation == 0 ? partitionings.0 : partitionings.1) != partitioning else { return }
    let cut = cut(partitioning)
    if generation == 0 {
      spectra.0?.free()
      (spectra.0, partitionings.0) = (cut, partitioning)
    } else {
      spectra.1?.free()
      (spectra.1, partitionings.1) = (cut, partitioning)
    }
  }

  private func cut(_ plan: Partitioning) -> AlignedMemory {
    precondition(plan.microphones == microphones && plan.taps == taps)
    let memory = AlignedMemory(count: plan.partitions * 2 * microphones * plan.spectrumFloats)
    let transform = FourierTransform(size: plan.transformSize)
    let re = AlignedMemory(count: plan.transformSize)
    let im = AlignedMemory(count: plan.transformSize)
    defer {
      transform.free()
      re.free()
      im.free()
    }
    let scale = 1 / Float(plan.transformSize)
    for partition in 0..<plan.partitions {
      let first = partition * plan.period
      let last = min(first + plan.period, taps)
      for output in 0..<2 {
        for microphone in 0..<microphones {
          re.floats.update(repeating: 0, count: plan.transformSize)
          im.floats.update(repeating: 0, count: plan.transformSize)
          for n in first..<last { re.floats[n - first] = coefficients[output][microphone][n] * scale }
          transform.forward(re.floats, im.floats)
          let bins = plan.transformSize / 2 + 1
          let at = ((partition * 2 + output) * microphones + microphone) * plan.spectrumFloats
          (memory.floats + at).update(from: re.floats, count: bins)
          (memory.floats + at + plan.binStride).update(from: im.floats, count: bins)
        }
      }
    }
    return memory
  }
}
