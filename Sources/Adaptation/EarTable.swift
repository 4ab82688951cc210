import Acoustics
import FilterDesign
import Glibc
import HeadResponses
import Manifolds
import Numerics
import Realtime

/// What the linear filters of one stereo case leave to be corrected: for each direction, the difference between the
/// target's ear signals and those of the filters.
///
/// Immutable.
package final class EarTable: @unchecked Sendable {
  package let array: ArrayTable
  /// The linear filters.
  package let base: FilterSet
  /// Errors `[fine direction][bin][ear]`, real and imaginary parts in turn, with the filters' modelling delay.
  private let errors: AlignedMemory
  /// Weights of the linear filters, `[bin][ear]`; zeros of an array of which some microphones are heard.
  let weights: MicrophoneVectors

  /// - Parameters:
  ///   - base: the linear filters.
  ///   - delayFrames: their modelling delay.
  ///   - frame: the listener's axes in the device frame.
  package init(_ array: ArrayTable, base: FilterSet, delayFrames: Int, frame: HeadFrame, hrtf: HRTF) {
    self.array = array
    self.base = base
    let (grid, count, microphones) = (array.grid, array.fineDirections.count, base.microphones)
    let heads = array.fineDirections.map { Self.nearHorizon(frame.head(fromDevice: $0)) }
    let target = StereoDesign.target(hrtf, from: heads, frequencies: grid.frequencies)
    let weights = FilterResponse(
      taps: Taps(base.filters), sampleRate: grid.sampleRate, delayFrames: delayFrames,
      frequencies: grid.frequencies
    ).weights
    let bins = grid.bins.count
    var linear = ResponseGrid(frequencies: bins, channels: 2, directions: count)
    array.passed(by: weights) { linear[$0, $1, $2] = $3 }
    let tone = Self.tone(of: linear, relativeTo: target)
    errors = AlignedMemory(count: bins * count * 4)
    self.weights = MicrophoneVectors(count: bins * 2)
    for bin in 0..<bins {
      let delay = Complex(
        phase: -2 * .pi * Double(grid.bins.lowerBound + bin) * Double(delayFrames) / Double(grid.length))
      for n in 0..<2 * microphones where array.isWhole {
        let weight = delay * weights[bin][n]
        self.weights[2 * bin + n / microphones, n % microphones] = (
          Float(weight.real), Float(weight.imaginary)
        )
      }
      for d in 0..<count {
        for ear in 0..<2 {
          let error = delay * (tone[bin] * target[bin, ear, d] - linear[bin, ear, d])
          let at = ((d * bins + bin) * 2 + ear) * 2
          errors.floats[at] = Float(error.real)
          errors.floats[at + 1] = Float(error.imaginary)
        }
      }
    }
  }

  deinit {
    errors.free()
    weights.free()
  }

  /// The error for a fine direction: `[ear]`, real and imaginary parts in turn.
  func error(bin: Int, _ direction: Int) -> UnsafePointer<Float> {
    UnsafePointer(errors.floats + (direction * array.grid.bins.count + bin) * 4)
  }

  /// The direction whose ear signals are the target for sound from `head`: that on the horizon up to 8° from it. Arrays
  /// cannot tell such elevations apart, and the head's responses differ much between them. From 16° on, the direction
  /// itself.
  private static func nearHorizon(_ head: SIMD3<Double>) -> SIMD3<Double> {
    let elevation = asin(min(1, max(-1, head.z))) * 180 / .pi
    guard abs(elevation) < 16 else { return head }
    let wanted = (elevation < 0 ? -1 : 1) * max(0, 2 * (abs(elevation) - 8)) * .pi / 180
    let azimuth = atan2(head.y, head.x)
    return [cos(wanted) * cos(azimuth), cos(wanted) * sin(azimuth), sin(wanted)]
  }

  /// The gain of each bin with which the target is as loud in the diffuse field as the linear filters, averaged over
  /// third octaves.
  private static func tone(of linear: ResponseGrid, relativeTo target: ResponseGrid) -> [Double] {
    func energies(_ grid: ResponseGrid) -> [Double] {
      let size = 2 * grid.directions
      return (0..<grid.frequencies).map { bin in
        grid.values[bin * size..<(bin + 1) * size].reduce(0) { $0 + $1.squaredMagnitude }
      }
    }
    let (reached, wanted) = (energies(linear), energies(target))
    return reached.indices.map { n in
      let third = max(0, Int(Double(n) / 1.12) - 1)...min(reached.count - 1, Int(Double(n) * 1.12) + 1)
      return (reached[third].reduce(0, +) / wanted[third].reduce(1e-12, +)).squareRoot()
    }
  }
}
