import Synchronization

/// Microphones × 2 FIR filters: the engine's only notion of a pattern. Immutable to the callback.
///
/// A set carries its spectra for up to two periods at once, so that a change of period finds the sets that are
/// sounding already cut for it. Which of the two the callback reads is the convolver's `generation`; the
/// control side writes only the other one (see `Engine.prepare`).
public final class FilterSet: @unchecked Sendable {
  private static let made = Atomic<Int>(0)

  // Unchecked: `prepared` is the control side's, under the engine's control lock; the callback reads the two addresses.

  /// Tells this set from all others there ever were: the next one may stand at the same address.
  let serial = FilterSet.made.wrappingAdd(1, ordering: .relaxed).newValue
  public let microphones: Int
  public let taps: Int
  /// Channels of what comes out: 1 where left and right are the same.
  public let channels: Int
  /// Shape: `[output][microphone][tap]`.
  private let coefficients: [[[Float]]]
  /// By generation. Shape: as `Layout` says; scaled by 1/(2 transformSize), for the kernels' spectra are twice too large,
  /// and the tail by 1/16 besides, for its transforms.
  private var prepared: [(layout: Layout, spectra: AlignedMemory)?] = [nil, nil]
  /// Where the callback finds the spectra of each generation; 0 for none. Two of their own, since one is written while the
  /// callback reads the other.
  private let firstAddress = Atomic<UInt>(0)
  private let secondAddress = Atomic<UInt>(0)

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

  deinit { for generation in prepared { generation?.spectra.free() } }

  /// Callback: the filters of a generation.
  @_noLocks @_noAllocation
  func spectra(generation: Int) -> UnsafeMutablePointer<Float>? {
    // Acquiring: what was cut is there before its address is.
    let address =
      generation == 0 ? firstAddress.load(ordering: .acquiring) : secondAddress.load(ordering: .acquiring)
    return UnsafeMutableRawPointer(bitPattern: address)?.assumingMemoryBound(to: Float.self)
  }

  /// Control side: cuts the filters for `layout`, unless they are already. The callback must not read `generation` now.
  func prepare(_ layout: Layout, generation: Int) {
    let old = prepared[generation]
    guard old?.layout != layout else { return }
    let cut = cut(layout)
    prepared[generation] = (layout, cut)
    let address = UInt(bitPattern: cut.floats)
    if generation == 0 {
      firstAddress.store(address, ordering: .releasing)
    } else {
      secondAddress.store(address, ordering: .releasing)
    }
    old?.spectra.free()
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
