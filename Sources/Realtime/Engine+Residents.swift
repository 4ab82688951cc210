import Synchronization
import Threads

/// Filter sets among which the callback's own thread changes what `main` plays: for a program whose settings arrive
/// together with the sound, such as a plug-in. They stay prepared for every period until the engine ends.
///
/// No other thread of such a program requests anything: the queue has one producer.
extension Engine {
  /// Makes filter sets residents, which are counted from 0 in this order. Call it once, before the first period.
  ///
  /// Thread: control side.
  /// - Parameter filters: with one output or two.
  public func keep(_ filters: [FilterSet]) {
    precondition(statistics.frames == 0 && state.pointee.residents == nil)
    let table = UnsafeMutablePointer<Unmanaged<FilterSet>>.allocate(capacity: filters.count)
    for (n, set) in filters.enumerated() { (table + n).initialize(to: .passUnretained(set)) }
    state.pointee.residents = table
    control.withLock { side in
      precondition(filters.allSatisfy { side.takes($0, on: 0) })
      side.residents = filters
      if let newest = side.newestConvolver {
        for set in filters { set.prepare(newest.layout, generation: newest.generation) }
      }
    }
  }

  /// Requests a crossfade of `main` to a resident. It begins with the next period, if none is under way.
  ///
  /// Thread: JACK's realtime thread (process callback), or a plug-in's in its place, between two calls of `process`.
  /// - Parameter highPass: corner in hertz, below half the sample rate; 0 for none.
  /// - Returns: false if too many requests are waiting.
  @_noLocks @_noAllocation
  public func change(toResident index: Int, gain: Float, highPass: Double) -> Bool {
    guard let residents = state.pointee.residents else { return false }
    let setting = FilterSetting(
      ticket: Ticket(resident: index, count: state.pointee.residentChanges), filters: residents[index],
      gain: gain,
      highPass: HighPassFilter(corner: highPass, sampleRate: sampleRate))
    guard messages.push(.change(feed: 0, setting)) else { return false }
    state.pointee.residentChanges &+= 1
    return true
  }

  /// The peak of the last 1.5 s of left (0) or right (1), 1 at full scale.
  ///
  /// Thread: as above.
  @_noLocks @_noAllocation
  public func heldPeak(output: Int) -> Float { meters.peak(microphones &+ output) }

  /// Whether a period of `frames` would be heard: a convolver for it is in use, or waits for its first period.
  ///
  /// Thread: as above.
  @_noLocks @_noAllocation
  public func isPrepared(period frames: Int) -> Bool {
    if let running = state.pointee.convolver, running._withUnsafeGuaranteedRef({ $0.fits(frames: frames) }) {
      return true
    }
    if prepared.load(ordering: .relaxed) == 0 { return false }
    return preparedPeriod.load(ordering: .relaxed) == frames
  }
}

extension Ticket {
  /// Of a change to a resident.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  fileprivate init(resident index: Int, count: UInt64) {
    // Other tickets are smaller numbers.
    number = 1 << 63 | count << 16 | UInt64(truncatingIfNeeded: index)
  }

  /// The resident of the change with this ticket; nil for another ticket.
  ///
  /// Thread: any.
  var resident: Int? { number >> 63 == 0 ? nil : Int(number & 0xffff) }
}
