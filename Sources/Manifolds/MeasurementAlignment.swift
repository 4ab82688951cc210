import Acoustics
import Foundation
import Measurements
import Numerics

/// The common delay, level and polarity of all responses of a measurement.
struct MeasurementAlignment {
  /// The frame at which sound passes the device's origin.
  private(set) var origin: Double
  /// Scales the mean energy over all directions and microphones to 1 between 200 and 500 Hz. Negative if the
  /// measurement has inverted polarity.
  private(set) var gain: Double

  /// - Parameters:
  ///   - directions: measured directions in the device frame.
  ///   - shares: their quadrature weights, sum 1.
  ///   - positions: of the microphones, in metres.
  /// - Throws: `DesignError` if arrival times contradict `positions`, or there is no energy between 200 and 500 Hz.
  init(
    _ measured: ImpulseResponses, directions: [SIMD3<Double>], shares: [Double], positions: [Position]
  ) throws(DesignError) {
    let channels = measured.channels
    let leads = directions.flatMap { u in positions.map { u.dot($0) / speedOfSound } }
    let onsets = measured.onsets
    try Self.checkAxes(onsets, measured, directions, shares, positions)
    // A first estimate is the median onset. The phase slope of the mean response then refines it.
    let passages = onsets.indices.map { onsets[$0] + leads[$0] * measured.sampleRate }.sorted()
    origin = passages[passages.count / 2]
    let step = 125.0
    let frequencies = stride(from: 500, through: 2000, by: step).map { $0 }
    let spectra = measured.spectra(origin: origin, frequencies: frequencies)
    var mean = [Complex](repeating: .zero, count: frequencies.count)
    for (at, value) in spectra.enumerated() {
      let (response, f) = at.quotientAndRemainder(dividingBy: frequencies.count)
      let alignment = Complex(phase: -2 * .pi * frequencies[f] * leads[response])
      mean[f] += shares[response / channels] * (value * alignment)
    }
    let slope = (1..<mean.count).reduce(Complex.zero) { $0 + mean[$1] * mean[$1 - 1].conjugate }
    let delay = -slope.phase / (2 * .pi * step)
    origin += delay * measured.sampleRate
    let polarity = mean.indices.reduce(0) {
      $0 + (mean[$1] * Complex(phase: 2 * .pi * frequencies[$1] * delay)).real
    }
    let low = stride(from: 200.0, through: 500, by: 50).map { $0 }
    let energy = measured.spectra(origin: origin, frequencies: low).enumerated().reduce(0) { sum, item in
      sum + shares[item.offset / low.count / channels] * item.element.squaredMagnitude
    }
    let level = (energy / Double(low.count * channels)).squareRoot()
    guard level > 1e-9, level.isFinite else {
      throw DesignError(
        "\(measured.file) has no energy between 200 and 500 Hz; measure again with a signal that includes this range"
      )
    }
    gain = (polarity < 0 ? -1 : 1) / level
  }

  /// Refuses a measurement whose arrival times contradict the microphone positions along an axis: sound from the
  /// positive direction must reach microphones with larger coordinates first. Otherwise angles, channels or positions
  /// are mixed up.
  private static func checkAxes(
    _ onsets: [Double], _ measured: ImpulseResponses, _ directions: [SIMD3<Double>], _ shares: [Double],
    _ positions: [Position]
  ) throws(DesignError) {
    let centre = positions.reduce(.zero, +) / Double(positions.count)
    for axis in 0..<3 {
      let offsets = positions.map { $0[axis] - centre[axis] }
      // Microphones closer than the distance sound travels in about one frame prove nothing.
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
      // Diffraction around a body lengthens the time differences. It never shortens them to a third or reverses them.
      guard found > 0.3 * expected else {
        let name = ["x", "y", "z"][axis]
        throw DesignError(
          "the arrival times in \(measured.file) do not fit the \(name) coordinates of the microphones; check the order "
            + "of the microphones, their positions, and that azimuth 90 is to the left of somebody looking out of the "
            + "device's front")
      }
    }
  }
}
