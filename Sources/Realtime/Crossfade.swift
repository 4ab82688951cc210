import Glibc

/// A filter set, its gain (an amplitude), the high-pass of the outputs, and the request that asked for them.
struct FilterSetting: BitwiseCopyable {
  let ticket: Ticket
  private(set) var filters: Unmanaged<FilterSet>
  let gain: Float
  let highPass: HighPassFilter
  /// Whether a substitution requested it, not a change.
  let isSubstitute: Bool
  /// Settings of a feed with the same number are one setting that turns: while filters that follow the sound play for one
  /// of them, they go on for the next one until newer ones come. 0 has nothing in common with any other setting.
  let lineage: Int
  /// The linear filters that were asked for. `filters` are others where they follow the sound.
  let base: Unmanaged<FilterSet>
  /// Of filters that follow the sound; -1 for the base.
  private(set) var slot = -1
  /// Whether it came with filters that follow the sound, or with the return from them: nobody asked for it, so nothing
  /// is reported.
  private(set) var isAdaptation = false
  /// Whether it plays on with the filters and the gain in force, so that a short fade is enough.
  private(set) var keepsFiltersAndGain = false

  /// Thread: any.
  @_noLocks @_noAllocation
  init(
    ticket: Ticket, filters: Unmanaged<FilterSet>, gain: Float, highPass: HighPassFilter,
    isSubstitute: Bool = false, lineage: Int = 0
  ) {
    self.ticket = ticket
    self.filters = filters
    base = filters
    self.gain = gain
    self.highPass = highPass
    self.isSubstitute = isSubstitute
    self.lineage = lineage
  }

  /// The same setting with filters that follow the sound, or with its linear ones.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func adapted(to filters: Unmanaged<FilterSet>, slot: Int) -> FilterSetting {
    var setting = self
    setting.filters = filters
    setting.slot = slot
    setting.isAdaptation = true
    setting.keepsFiltersAndGain = false
    return setting
  }

  /// The same setting with its linear filters.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func linear() -> FilterSetting {
    var setting = self
    setting.filters = base
    setting.slot = -1
    return setting
  }

  /// Whether filters of this lineage may play for it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func hasLineage(_ other: Int) -> Bool { lineage != 0 && lineage == other }

  /// The same setting with the filters of `playing`, if these follow the sound and stand for the same linear ones, or for
  /// those that it is turned from: neither a change of gain or high-pass nor a turn interrupts them.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func following(_ playing: FilterSetting) -> FilterSetting {
    guard playing.slot >= 0,
      playing.base.toOpaque() == base.toOpaque() || hasLineage(playing.lineage)
    else { return self }
    var setting = self
    setting.keepsFiltersAndGain = isSubstitute && gain == playing.gain
    setting.filters = playing.filters
    setting.slot = playing.slot
    return setting
  }
}

/// The crossfade curve: a raised cosine. Both gains sum to 1.
package struct Crossfade {
  /// Length of every fade in frames: 20 ms, at least one frame. Also of a microphone that is muted or returns.
  ///
  /// Thread: any.
  package static func frames(sampleRate: Double) -> Int { max(1, Int((0.02 * sampleRate).rounded())) }

  let frames: Int
  private let rise: AlignedMemory

  /// Thread: control side.
  init(frames: Int) {
    self.frames = frames
    rise = AlignedMemory(count: frames)
    for n in 0..<frames {
      rise.floats[n] = Float(0.5 - 0.5 * cos(Double.pi * (Double(n) + 0.5) / Double(frames)))
    }
  }

  /// Thread: control side.
  func free() { rise.free() }

  /// Fades from `old` to `new`, in place in `new`.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Parameter position: frames of the fade played before this period.
  @_noLocks @_noAllocation
  func mix(
    _ new: UnsafeMutablePointer<Float>, gain: Float, with old: UnsafePointer<Float>, gain oldGain: Float,
    position: Int, count: Int
  ) {
    let fading = max(0, min(count, frames &- position))
    let rise = rise.floats + position
    var n = 0
    while n < fading {
      new[n] = new[n] * (rise[n] * gain) + old[n] * ((1 - rise[n]) * oldGain)
      n &+= 1
    }
    while n < count {
      new[n] = new[n] * gain
      n &+= 1
    }
  }
}
