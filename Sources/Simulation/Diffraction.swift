import Acoustics
import Glibc
import Manifolds
import Numerics
import Realtime

/// The effect of a device's body on plane waves: an impulse response per direction and microphone, from the
/// free-field pressure at the microphone's position to the pressure that the microphone picks up.
///
/// The free-field delays between microphones are excluded. `PlaneWave` applies them without using the array manifold,
/// so a wrong sign or axis in a filter design shows up in the simulation instead of cancelling out.
struct Diffraction {
  private let manifold: any ArrayManifold
  private let sampleRate: Int
  /// Of the microphones, in metres.
  var positions: [Position] { manifold.positions }
  /// Taps before time zero, which hold the pre-ringing of the band limit.
  let leadingTaps: Int
  let taps: Int

  /// - Parameters:
  ///   - device: its body is solved on a finer mesh than the filter design uses.
  ///   - solutions: solved boxes on disk; nil for none.
  ///   - progress: called with the solved fraction of a box, 0…1, from any thread, one call at a time.
  /// - Returns: nil for a device without a body.
  init?(
    device: Device, sampleRate: Int, solutions: BoxSolutions? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) {
    if device.body == .free { return nil }
    self.sampleRate = sampleRate
    manifold = try referenceManifold(for: device, solutions: solutions, progress: progress)
    taps = Self.size(device.body.shape, sampleRate: sampleRate)
    leadingTaps = taps / 4
  }

  /// Impulse responses for plane waves from `directions` (device frame): shape `[direction][microphone][tap]`.
  func responses(from directions: [Direction]) -> [[[Float]]] {
    let size = taps
    let frequencies = (0...size / 2).map { Double($0) * Double(sampleRate) / Double(size) }
    let grid = manifold.responses(from: directions.map(\.vector), frequencies: frequencies)
    let transform = FourierTransform(size: size)
    let (re, im) = (AlignedMemory(count: size), AlignedMemory(count: size))
    defer {
      transform.free()
      re.free()
      im.free()
    }
    return directions.enumerated().map { d, direction in
      positions.enumerated().map { m, position in
        let lead = PlaneWave.lead(at: position, from: direction)
        for (k, frequency) in frequencies.enumerated() {
          let shift = Complex(
            phase: -2 * .pi * (frequency * lead + Double(k) * Double(leadingTaps) / Double(size)))
          let value = Self.band(frequency / Double(sampleRate)) / Double(size) * (shift * grid[k, m, d])
          re.floats[k] = Float(value.real)
          im.floats[k] = Float(value.imaginary)
          if k > 0, k < size / 2 {
            re.floats[size - k] = Float(value.real)
            im.floats[size - k] = Float(-value.imaginary)
          }
        }
        // The Nyquist bin needs no special case: the band limit makes it zero.
        // Inverse FFT: the forward FFT with real and imaginary parts swapped.
        transform.forward(im.floats, re.floats)
        return (0..<size).map { re.floats[$0] }
      }
    }
  }

  /// FFT length: a power of two, long enough for sound to travel around the body several times.
  private static func size(_ body: any BodyShape, sampleRate: Int) -> Int {
    // If the size is unknown, this requests 12 ms, about the length that is kept of a measurement.
    let extent = 2 * (body.reach ?? 0.2)
    let wanted = (0.003 + 8 * extent / speedOfSound) * Double(sampleRate)
    var size = 64
    while Double(size) < wanted { size *= 2 }
    return size
  }

  /// Band limit that keeps the impulse responses short: 1 up to the passband edge of `BandlimitedSignal`, then a
  /// raised-cosine roll-off to 0 at the Nyquist frequency.
  /// - Parameter frequency: as a fraction of the sample rate.
  private static func band(_ frequency: Double) -> Double {
    let part = min(1, max(0, (frequency - 0.45) / 0.05))
    return 0.5 + 0.5 * cos(.pi * part)
  }
}
