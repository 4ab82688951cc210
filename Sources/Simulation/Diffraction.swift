import Acoustics
import FilterDesign
import Glibc
import Realtime

/// What a device's body makes of sounds from some directions: the impulse responses from the free field at each
/// microphone to what the microphone hears.
///
/// Only the body is in here. How much earlier a sound reaches one microphone than another stays the business of
/// `PlaneWave`, which knows no manifold, so that a wrong sign or axis of the designs is heard.
struct Diffraction {
  private let device: Device
  private let manifold: any ArrayManifold
  private let sampleRate: Int
  /// Taps before time zero, where the filter that ends the band rings.
  let early: Int
  let taps: Int

  /// - Parameters:
  ///   - device: whose body is solved, on a finer mesh than that of its designs.
  ///   - progress: called with what part of a box is solved, 0…1, from any thread, one call at a time.
  /// - Returns: nil for a device without a body.
  init?(device: Device, sampleRate: Int, progress: (@Sendable (Double) -> Void)?) throws(DesignError) {
    if case .free = device.body { return nil }
    self.device = device
    self.sampleRate = sampleRate
    manifold = try referenceManifold(for: device, progress: progress)
    taps = Self.size(device.body, sampleRate: sampleRate)
    early = taps / 4
  }

  /// Impulse responses to sounds from `directions`, of the device frame: shape `[direction][microphone][tap]`.
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
      device.microphones.enumerated().map { m, microphone in
        let lead = PlaneWave.lead(at: microphone.position, from: direction)
        for (k, frequency) in frequencies.enumerated() {
          let shift = Complex(
            phase: -2 * .pi * (frequency * lead + Double(k) * Double(early) / Double(size)))
          let value = Self.band(frequency / Double(sampleRate)) / Double(size) * (shift * grid[k, m, d])
          re.floats[k] = Float(value.real)
          im.floats[k] = Float(value.imaginary)
          if k > 0, k < size / 2 {
            re.floats[size - k] = Float(value.real)
            im.floats[size - k] = Float(-value.imaginary)
          }
        }
        // The bin at half the rate has no imaginary part, as the band ends there.
        transform.forward(im.floats, re.floats)
        return (0..<size).map { re.floats[$0] }
      }
    }
  }

  /// Sound goes around the body a few times; a power of two.
  private static func size(_ body: Body, sampleRate: Int) -> Int {
    let extent =
      switch body {
      case .free: 0.0
      case .sphere(let radius): 2 * radius
      case .box(let size): size.length
      // Not known: 10 ms, about what is kept of a measurement.
      case .measured: 0.4
      }
    let wanted = (0.003 + 8 * extent / speedOfSound) * Double(sampleRate)
    var size = 64
    while Double(size) < wanted { size *= 2 }
    return size
  }

  /// 1 as far as `BandlimitedSignal` keeps its band, then falling to 0 at half the rate, so that impulse
  /// responses are short.
  private static func band(_ frequency: Double) -> Double {
    let part = min(1, max(0, (frequency - 0.45) / 0.05))
    return 0.5 + 0.5 * cos(.pi * part)
  }
}
