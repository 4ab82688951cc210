import Glibc
import Numerics
import Realtime

/// Short-time spectra of an array's microphones: what all analyses of its sound begin with.
///
/// - Thread: one at a time. It allocates nothing after its start.
final class MicrophoneSpectra {
  let grid: AnalysisGrid
  /// The channels that are heard.
  private let places: [Int]
  var microphones: Int { places.count }
  /// `[bin from 0][microphone]`, real and imaginary parts in turn: windowed by Hann, unscaled.
  let values: AlignedMemory
  private let transform: FourierTransform
  private let window: AlignedMemory
  /// The newest `length` frames of each microphone, oldest first.
  private let frames: AlignedMemory
  private let re: AlignedMemory
  private let im: AlignedMemory
  /// The DC offset of each microphone. Unequal offsets are incoherent, as wind is.
  private var dcOffsets: [Float]
  /// The newest frames that came since the start or the last reset, at most `length`. Those before are zeros.
  private var received = 0
  /// Time constant of the DC offsets, in seconds.
  private static let dcTimeConstant = 0.05
  /// Frames since the last transform.
  private var filled = 0
  /// Frames so far.
  private(set) var clock = 0

  init(_ grid: AnalysisGrid, places: [Int]) {
    (self.grid, self.places) = (grid, places)
    let microphones = places.count
    let length = grid.length
    transform = FourierTransform(size: length)
    window = AlignedMemory(count: length)
    for n in 0..<length { window.floats[n] = Float(0.5 - 0.5 * cos(2 * .pi * Double(n) / Double(length))) }
    frames = AlignedMemory(count: microphones * length)
    re = AlignedMemory(count: length)
    im = AlignedMemory(count: length)
    values = AlignedMemory(count: grid.bins.upperBound * microphones * 2)
    dcOffsets = [Float](repeating: 0, count: microphones)
  }

  deinit {
    transform.free()
    for memory in [values, window, frames, re, im] { memory.free() }
  }

  /// The next sound follows silence.
  /// - Parameter clock: of the next frame; nil if time goes on, without the hop that has begun.
  func reset(at clock: Int? = nil) {
    self.clock = clock ?? self.clock - filled
    filled = 0
    received = 0
    frames.floats.update(repeating: 0, count: microphones * grid.length)
  }

  /// The most frames that `append` takes.
  var framesToHop: Int { grid.hop - filled }

  /// Whether all of the newest frames are zeros.
  var isSilent: Bool {
    (0..<microphones * grid.length).allSatisfy { frames.floats[$0] == 0 }
  }

  /// Takes `count` frames, at most `framesToHop`.
  /// - Parameter block: `[channel]`.
  /// - Returns: whether there are new spectra.
  func append(_ block: UnsafePointer<UnsafePointer<Float>>, count: Int) -> Bool {
    let length = grid.length
    for m in 0..<microphones {
      // The frames of this hop lie at the end.
      (frames.floats + m * length + length - grid.hop + filled).update(from: block[places[m]], count: count)
    }
    filled += count
    clock += count
    guard filled == grid.hop else { return false }
    updateDCOffsets()
    transformFrames()
    for m in 0..<microphones {
      let start = frames.floats + m * length
      start.update(from: start + grid.hop, count: length - grid.hop)
    }
    filled = 0
    return true
  }

  private func updateDCOffsets() {
    let (length, old) = (grid.length, grid.length - grid.hop)
    for m in 0..<microphones {
      let start = frames.floats + m * length
      var sum: Float = 0
      for n in old..<length { sum += start[n] }
      let (mean, keep) = (sum / Float(grid.hop), received == 0 ? 0 : grid.forgetting(Self.dcTimeConstant))
      dcOffsets[m] = keep * dcOffsets[m] + (1 - keep) * mean
    }
    received = min(length, received + grid.hop)
  }

  /// Two microphones at a time, as real and imaginary parts.
  private func transformFrames() {
    let length = grid.length
    for pair in stride(from: 0, to: microphones, by: 2) {
      let hasSecond = pair + 1 < microphones
      let second = hasSecond ? pair + 1 : pair
      let (a, b) = (frames.floats + pair * length, frames.floats + second * length)
      let (offsetA, offsetB) = (dcOffsets[pair], dcOffsets[second])
      let first = length - received
      re.floats.update(repeating: 0, count: first)
      im.floats.update(repeating: 0, count: first)
      for n in first..<length {
        re.floats[n] = window.floats[n] * (a[n] - offsetA)
        im.floats[n] = hasSecond ? window.floats[n] * (b[n] - offsetB) : 0
      }
      transform.forward(re.floats, im.floats)
      for k in 0..<grid.bins.upperBound {
        let mirror = (length - k) % length
        let at = values.floats + (k * microphones + pair) * 2
        at[0] = 0.5 * (re.floats[k] + re.floats[mirror])
        at[1] = 0.5 * (im.floats[k] - im.floats[mirror])
        if hasSecond {
          at[2] = 0.5 * (im.floats[k] + im.floats[mirror])
          at[3] = 0.5 * (re.floats[mirror] - re.floats[k])
        }
      }
    }
  }
}
