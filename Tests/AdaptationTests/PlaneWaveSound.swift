import Foundation
import Numerics
import TestSupport

/// Sums of sines at microphones in the free field, from given directions: plane waves in closed form.
struct PlaneWaveSound {
  let sampleRate: Double
  /// In metres, in the device frame.
  let positions: [SIMD3<Double>]
  private static let speedOfSound = 343.0

  /// - Returns: `[microphone][frame]`: as many sines from each direction, spread over 100 Hz to 10 kHz.
  func samples(_ directions: [SIMD3<Double>], sines: Int, seconds: Double, noise: inout SeededNoise)
    -> [[Float]]
  {
    let frames = Int(seconds * sampleRate)
    var sum = [[Double]](repeating: [Double](repeating: 0, count: frames), count: positions.count)
    let highest = min(17_000, 0.46 * sampleRate)
    for direction in directions {
      for _ in 0..<sines {
        let values = noise.samples(2).map { (Double($0) + 1) / 2 }
        let frequency = 100 * pow(highest / 100, values[0])
        for (m, position) in positions.enumerated() {
          let lead = 2 * .pi * frequency * (direction * position).sum() / Self.speedOfSound
          var phasor = Complex(phase: 2 * .pi * values[1] + lead)
          let step = Complex(phase: 2 * .pi * frequency / sampleRate)
          for n in 0..<frames {
            sum[m][n] += phasor.real
            phasor *= step
          }
        }
      }
    }
    let scale = 0.05 / Double(directions.count * sines).squareRoot()
    return sum.map { $0.map { Float($0 * scale) } }
  }

  /// The responses of the microphones to a plane wave, in closed form.
  func responses(_ direction: SIMD3<Double>, _ frequency: Double) -> [Complex] {
    positions.map { Complex(phase: 2 * .pi * frequency * (direction * $0).sum() / Self.speedOfSound) }
  }
}
