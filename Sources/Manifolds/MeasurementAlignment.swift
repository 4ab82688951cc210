import Acoustics
import Foundation

/// What all responses of a measurement have in common: delay and level.
struct MeasurementAlignment {
  /// The frame at which sound passes the device's origin.
  private(set) var origin: Double
  /// Makes the mean energy of all directions and microphones 1 between 200 and 500 Hz, and upright what was measured
  /// upside down.
  private(set) var gain: Double

  /// - Parameters:
  ///   - directions: of the measurement, in the device frame.
  ///   - shares: of the sphere that they stand for, sum 1.
  ///   - positions: of the microphones, in metres.
  init(
    _ measured: ImpulseResponses, directions: [SIMD3<Double>], shares: [Double], positions: [Position]
  ) throws(DesignError) {
    let channels = measured.channels
    let leads = directions.flatMap { u in positions.map { u.dot($0) / speedOfSound } }
    let onsets = measured.onsets
    try Self.checkAxes(onsets, measured, directions, shares, positions)
    // Roughly, by onsets; then by the slope of the mean response's phase.
    let passages = onsets.indices.map { onsets[$0] + leads[$0] * measured.sampleRate }.sorted()
    origin = passages[passages.count / 2]
    let step = 125.0
    let frequencies = stride(from: 500, through: 2000, by: step).map { $0 }
    let spectra = measured.spectra(origin: origin, frequencies: frequencies)
    var mean = [Complex](repeating: .zero, count: frequencies.count)
    for (at, value) in spectra.enumerated() {
      let (response, f) = at.quotientAndRemainder(dividingBy: frequencies.count)
      let turn = Complex(phase: -2 * .pi * frequencies[f] * leads[response])
      mean[f] += shares[response / channels] * (value * turn)
    }
    let slope = (1..<mean.count).reduce(Complex.zero) { $0 + mean[$1] * mean[$1 - 1].conjugate }
    let delay = -slope.phase / (2 * .pi * step)
    origin += delay * measured.sampleRate
    let upright = mean.indices.reduce(0) {
      $0 + (mean[$1] * Complex(phase: 2 * .pi * frequencies[$1] * delay)).real
    }
    let low = stride(from: 200.0, through: 500, by: 50).map { $0 }
    let energy = measured.spectra(origin: origin, frequencies: low).enumerated().reduce(0) { sum, item in
      sum + shares[item.offset / low.count / channels] * item.element.squaredMagnitude
    }
    let level = (energy / Double(low.count * channels)).squareRoot()
    guard level > 1e-9, level.isFinite else {
      throw DesignError("\(measured.file) holds no sound between 200 and 500 Hz; measure again with these")
    }
    gain = (upright < 0 ? -1 : 1) / level
  }

  /// Refuses a measurement in which sound from along an axis does not reach first the microphones that are said to
  /// be further along it: angles, channels or positions are mixed up.
  private static func checkAxes(
    _ onsets: [Double], _ measured: ImpulseResponses, _ directions: [SIMD3<Double>], _ shares: [Double],
    _ positions: [Position]
  ) throws(DesignError) {
    let centre = positions.reduce(.zero, +) / Double(positions.count)
    for axis in 0..<3 {
      let offsets = positions.map { $0[axis] - centre[axis] }
      // Nearer together, less than a frame's travel, they prove nothing.
      guard (offsets.max() ?? 0) - (offsets.min() ?? 0) > 0.007 else { continue }
      var (found, expected) = (0.0, 0.0)
      for (d, direction) in directions.enumerated() {
        let row = onsets[d * positions.count..<(d + 1) * positions.count]
        let mean = row.reduce(0, +) / Double(positions.count)
        for (m, onset) in row.enumerated() {
          let weight = shares[d] * direction[axis] * offsets[m]
          found += weight * (mean - onset) / measured.sampleRate
          expected += weight * direction.dot(positions[m] - centre) / speedOfSound
        }
      }
      // Around a body sound takes longer; it never takes a third of the time, nor runs backwards.
      guard found > 0.3 * expected else {
        let name = ["x", "y", "z"][axis]
        throw DesignError(
          "the times at which sound arrives in \(measured.file) do not fit the microphones' \(name); check the order "
            + "of the microphones, their positions, and that azimuth 90 is at the left of somebody who looks out of "
            + "the front")
      }
    }
  }
}
