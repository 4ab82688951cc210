import Glibc
import Measurements
import Numerics

/// The frequencies at which a measurement holds more than noise: loudspeakers end at some frequency, and so do
/// microphones and converters.
///
/// The band reaches from the lowest to the highest frequency whose level is within 20 dB of the median level from 500 Hz
/// to 4 kHz, at the frequency itself and in the third octave around it. A notch inside is no end. Levels are mean
/// energies over all directions and microphones, each microphone relative to its own median.
enum MeasuredBand {
  private static let reference = 500.0...4000
  /// How far below the median the band ends.
  private static let depth = 20.0
  private static let pointsPerOctave = 24
  /// Bands that a measurement must cover at least, in hertz.
  private static let needed = 500.0...3000

  /// - Parameters:
  ///   - highest: the highest frequency to consider, in hertz.
  ///   - shares: quadrature weights of the directions, sum 1.
  /// - Throws: `DesignError` if the band is too narrow for any design.
  static func band(
    of measured: ImpulseResponses, shares: [Double], highest: Double
  ) throws(DesignError) -> ClosedRange<Double> {
    let octaves = log2(highest / 50)
    let count = max(1, Int(octaves * Double(pointsPerOctave)))
    let frequencies = (0...count).map { 50 * pow(2, octaves * Double($0) / Double(count)) }
    let levels = levels(of: measured, shares: shares, frequencies: frequencies)
    // A third of an octave around each point.
    let reach = pointsPerOctave / 6
    let inside = frequencies.indices.filter { f in
      let third = levels[max(0, f - reach)...min(count, f + reach)]
      return min(levels[f], mean(Array(third))) >= pow(10, -depth / 10)
    }
    guard let first = inside.first, let last = inside.last, frequencies[first] <= needed.lowerBound,
      frequencies[last] >= needed.upperBound
    else {
      let found =
        inside.isEmpty
        ? "nothing" : "only \(Int(frequencies[inside[0]])) to \(Int(frequencies[inside.last!])) Hz"
      throw DesignError(
        "\(measured.file) contains \(found); measure at least \(Int(needed.lowerBound)) to "
          + "\(Int(needed.upperBound)) Hz")
    }
    // The first point below the lowest frequency that was looked at is not an end.
    return (first == 0 ? 0 : frequencies[first])...frequencies[last]
  }

  /// Mean energies relative to the median of the reference band: `[frequency]`.
  private static func levels(
    of measured: ImpulseResponses, shares: [Double], frequencies: [Double]
  ) -> [Double] {
    let spectra = measured.spectra(origin: 0, frequencies: frequencies)
    var energies = [[Double]](
      repeating: [Double](repeating: 0, count: frequencies.count), count: measured.channels)
    for (at, value) in spectra.enumerated() {
      let (response, f) = at.quotientAndRemainder(dividingBy: frequencies.count)
      let (direction, channel) = response.quotientAndRemainder(dividingBy: measured.channels)
      energies[channel][f] += shares[direction] * value.squaredMagnitude
    }
    var sums = [Double](repeating: 0, count: frequencies.count)
    for row in energies {
      let middle = frequencies.indices.filter { reference.contains(frequencies[$0]) }.map { row[$0] }.sorted()
      let median = max(middle[middle.count / 2], 1e-30)
      for f in frequencies.indices { sums[f] += row[f] / median / Double(measured.channels) }
    }
    return sums
  }
}
