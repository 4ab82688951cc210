import Synchronization

/// Microphones × 2 FIR filters: the engine's only notion of a pattern. Immutable to the callback.
///
/// A set carries its spectra for up to two periods at once, so that a change of period finds the sets that are
/// sounding already cut for it. Which of the two the callback reads is the convolver's `generation`; the
/// control side writes only the other one (see `Engine.prepare`).
public final class FilterSet: @unchecked Sendable {
  private static let made = Atomic<Int>(0)

  // Unchecked: `spectra` is written by the control side under the engine's control lock, in the generation
  // that the callback does not read; the callback is the only reader.

  /// Tells this set from all others there ever were: the next one may stand at the same address.
  let serial = FilterSet.made.wrappingAdd(1, ordering: .relaxed).newValue
  public let microphones: Int
  public let taps: Int
  /// Channels of what comes out: 1 where left and right are the same.
  public let channels: Int
  /// Shape: `[output][microphone][tap]`.
  private let coefficients: [[[Float]]]
  private var layouts: (Layout?, Layout?) = (nil, nil)
  /// Shape: as `Layout` says; scaled by 1/(2 transformSize), for the kernels' spectra are twice too large, and the
  /// tail by 1/16 besides, for its transforms.
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

  /// Control side: cuts the filters for `layout`, unless they are already.
  func prepare(_ layout: Layout, generation: Int) {
    guard (generation == 0 ? layouts.0 : layouts.1) != layout else { return }
    let cut = cut(layout)
    if generation == 0 {
      spectra.0?.free()
      (spectra.0, layouts.0) = (cut, layout)
    } else {
      spectra.1?.free()
      (spectra.1, layouts.1) = (cut, layout)
    }
  }

  private func cut(_ layout: Layout) -> AlignedMemory {
    let plan = layout.plan
    precondition(plan.microphones == microphones && plan.taps == taps)
    let memory = AlignedMemory(count: layout.filterFloats)
    let transform = FourierTransform(size: plan.transformSize)
    let re = AlignedMemory(count: plan.transformSize)
    let im = AlignedMemory(count: plan.transformSize)
    defer {
      transform.free()
      re.free()
      im.free()
    }
    let scale = 0.5 / Float(plan.transformSize)
    // Of the tail's transforms, of which the inverse is unscaled too.
    let turns = TransformTables.circle(16).map { ($0.re / 16, $0.im / 16) }
    for partition in 0..<plan.partitions {
      let first = partition * plan.period
      let last = min(first + plan.period, taps)
      for output in 0..<2 {
        for microphone in 0..<microphones {
          re.floats.update(repeating: 0, count: plan.transformSize)
          im.floats.update(repeating: 0, count: plan.transformSize)
          for n in first..<last { re.floats[n - first] = coefficients[output][microphone][n] * scale }
          transform.forward(re.floats, im.floats)
          for bin in 0..<layout.bins {
            if partition < layout.head {
              let at = layout.place(output: output, microphone: microphone, partition: partition, bin: bin)
              memory.floats[at] = re.floats[bin]
              memory.floats[at + layout.lanes] = im.floats[bin]
            } else {
              let (block, n) = ((partition - layout.head) / 8, (partition - layout.head) % 8)
              for frequency in 0..<16 {
                let at = layout.place(
                  output: output, microphone: microphone, block: block, frequency: frequency, bin: bin)
                let (c, s) = turns[n * frequency % 16]
                memory.floats[at] += c * re.floats[bin] - s * im.floats[bin]
                memory.floats[at + layout.lanes] += c * im.floats[bin] + s * re.floats[bin]
              }
            }
          }
          let edge = layout.nyquistPlace(output: output, microphone: microphone, partition: partition)
          memory.floats[edge] = re.floats[layout.bins]
        }
      }
    }
    return memory
  }
}
