import Glibc

/// What sounds: a filter set at an amplitude, and the request that asked for it.
struct Sound: BitwiseCopyable {
  let ticket: Ticket
  let filters: Unmanaged<FilterSet>
  let gain: Float

  @_noLocks @_noAllocation
  init(ticket: Ticket, filters: Unmanaged<FilterSet>, gain: Float) {
    self.ticket = ticket
    self.filters = filters
    self.gain = gain
  }
}

/// The way from one sound to the next: raised cosine, gains summing to 1.
struct Crossfade {
  let frames: Int
  private let rise: AlignedMemory

  init(frames: Int) {
    self.frames = frames
    rise = AlignedMemory(count: frames)
    for n in 0..<frames {
      rise.floats[n] = Float(0.5 - 0.5 * cos(Double.pi * (Double(n) + 0.5) / Double(frames)))
    }
  }

  func free() { rise.free() }

  /// Mixes `new` into `old`, in place in `new`. `position`: frames of the fade that lie before this period.
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
