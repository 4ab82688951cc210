import Synchronization
import Threads

/// Microphones × outputs FIR filters: the engine's only notion of a polar pattern. Immutable for the callback.
///
/// A set holds its spectra for up to two periods at once, one generation each. The sets in use are therefore already
/// prepared when the period changes. The callback reads the generation of its convolver; the control side writes only
/// the other one (see `Engine.prepare`). Periods that nothing was prepared for are played from the taps (`DirectForm`).
public final class FilterSet: @unchecked Sendable {
  private static let lastSerial = Atomic<Int>(0)

  // Unchecked: only the control side uses `prepared`, under the engine's control lock; the callback reads the three
  // atomics and the taps. Of a set that is refilled, `FilterStream` says who uses what.

  private let number = Atomic<Int>(FilterSet.nextSerial())
  private let silent = Locked<FilterSet?>(nil)
  public let microphones: Int
  public let taps: Int
  /// 1 for a mono pattern, which a feed with two outputs plays on both.
  public let outputs: Int
  /// Shape: `[output][microphone][tap]`.
  private let coefficients: UnsafeMutablePointer<Float>
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
  public convenience init(coefficients: [[[Float]]]) {
    let (microphones, taps) = (coefficients[0].count, coefficients[0][0].count)
    precondition(coefficients.allSatisfy { $0.count == microphones && $0.allSatisfy { $0.count == taps } })
    self.init(outputs: coefficients.count, microphones: microphones, taps: taps)
    for (n, filter) in coefficients.joined().enumerated() {
      for (tap, h) in filter.enumerated() { self.coefficients[n * taps + tap] = h }
    }
  }

  /// A set of zeros, to be refilled.
  ///
  /// Thread: any but the callback's.
  package init(outputs: Int, microphones: Int, taps: Int) {
    precondition((1...2 * FeedTable.mostPairs).contains(outputs))
    self.outputs = outputs
    self.microphones = microphones
    self.taps = taps
    coefficients = .allocate(capacity: outputs * microphones * taps)
    coefficients.initialize(repeating: 0, count: outputs * microphones * taps)
  }

  /// All filters: `[output][microphone][tap]`.
  ///
  /// Thread: any but the callback's.
  package var filters: [[[Float]]] {
    (0..<outputs).map { output in
      (0..<microphones).map { Array(UnsafeBufferPointer(start: filter(output, $0), count: taps)) }
    }
  }

  /// One filter: `[tap]`.
  ///
  /// Thread: any.
  @_noLocks @_noAllocation
  package func filter(_ output: Int, _ microphone: Int) -> UnsafePointer<Float> {
    UnsafePointer(coefficients + (output &* microphones &+ microphone) &* taps)
  }

  /// Filters of as many outputs that play nothing: always the same set.
  ///
  /// Thread: any but the callback's.
  public var silence: FilterSet {
    silent.withLock { silent in
      let set = silent ?? FilterSet(outputs: outputs, microphones: microphones, taps: taps)
      silent = set
      return set
    }
  }

  /// Whether there is no microphone whose filters are zeros.
  ///
  /// Thread: any but the callback's.
  package var usesAllMicrophones: Bool {
    (0..<microphones).allSatisfy { microphone in
      (0..<outputs).contains { output in (0..<taps).contains { filter(output, microphone)[$0] != 0 } }
    }
  }

  deinit {
    for generation in prepared { generation?.spectra.free() }
    coefficients.deallocate()
  }

  /// Unique within the process: of these coefficients. An address is not: the next set may be allocated at the same one.
  ///
  /// Thread: any.
  var serial: Int {
    @_noLocks @_noAllocation get { number.load(ordering: .relaxed) }
  }

  /// Thread: any but the callback's.
  private static func nextSerial() -> Int { lastSerial.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Outputs are computed in pairs. The last one of an odd number has filters of zeros beside it.
  var pairs: Int { (outputs + 1) / 2 }

  /// The filter from a microphone to an output.
  ///
  /// Thread: any but the callback's.
  func filter(output: Int, microphone: Int) -> UnsafeBufferPointer<Float> {
    UnsafeBufferPointer(start: coefficients + (output * microphones + microphone) * taps, count: taps)
  }

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
    guard prepared[generation]?.layout != layout else { return }
    prepare(FilterTransform(layout), generation: generation)
  }

  /// Partitions and transforms the filters, whether or not that has been done. It allocates only where the generation had
  /// another layout. The callback must not be reading this generation.
  ///
  /// Thread: control side; of a set that is refilled, the thread that may refill it.
  func prepare(_ transform: FilterTransform, generation: Int) {
    let layout = transform.layout
    precondition(layout.plan.microphones == microphones && layout.plan.taps == taps)
    let old = prepared[generation]
    if let old, old.layout == layout {
      return transform.transform(coefficients, outputs: outputs, to: old.spectra.floats)
    }
    let memory = AlignedMemory(count: pairs * layout.filterFloats)
    transform.transform(coefficients, outputs: outputs, to: memory.floats)
    prepared[generation] = (layout, memory)
    let address = UInt(bitPattern: memory.floats)
    if generation == 0 {
      firstAddress.store(address, ordering: .releasing)
    } else {
      secondAddress.store(address, ordering: .releasing)
    }
    old?.spectra.free()
  }

  /// Replaces the filters of a set that the callback does not read. Call `prepare(_:generation:)` for every convolver in
  /// use before the callback may read it again.
  ///
  /// Thread: the one that may refill it.
  /// - Parameters:
  ///   - source: shape `[output][microphone][tap]`.
  ///   - given: its outputs: as many as the set has, or one, which all of them play.
  package func refill(_ source: UnsafePointer<Float>, outputs given: Int) {
    let size = microphones * taps
    precondition(given == outputs || given == 1)
    for output in 0..<outputs {
      (coefficients + output * size).update(from: source + (given == 1 ? 0 : output * size), count: size)
    }
    number.store(Self.nextSerial(), ordering: .relaxed)
  }
}
