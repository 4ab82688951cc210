import Acoustics
import Measurements
import Numerics

/// What all responses of a measurement share: where the array was, its delay, and its polarity.
struct MeasurementAlignment {
  /// Of the microphones relative to the measurement's origin, around which its directions lie, in metres.
  let positions: [Position]
  /// The frame at which sound passes the measurement's origin.
  let origin: Double
  /// Whether the measurement has inverted polarity.
  let isInverted: Bool

  /// A displacement up to this many metres is not corrected: diffraction around a body imitates it.
  private static let smallestDisplacement = 0.025

  /// - Parameters:
  ///   - directions: measured directions in the device frame.
  ///   - shares: their quadrature weights, sum 1.
  ///   - positions: of the microphones, in metres, relative to any origin.
  /// - Throws: `DesignError` if arrival times contradict `positions`.
  init(
    _ measured: ImpulseResponses, directions: [SIMD3<Double>], shares: [Double],
    positions described: [Position]
  ) throws(DesignError) {
    let channels = measured.channels
    let onsets = measured.onsets
    try Self.checkAxes(onsets, measured, directions, shares, described)
    let displacement = Self.displacement(
      directions, shares: shares, positions: described, seconds: onsets.map { $0 / measured.sampleRate })
    let positions = described.map {
      displacement.length > Self.smallestDisplacement ? $0 + displacement : $0
    }
    self.positions = positions
    let leads = directions.flatMap { u in positions.map { u.dot($0) / speedOfSound } }
    // A first estimate is the median onset. The phase slope of the mean response then refines it.
    let passages = onsets.indices.map { onsets[$0] + leads[$0] * measured.sampleRate }.sorted()
    let median = passages[passages.count / 2]
    let step = 125.0
    let frequencies = stride(from: 500, through: 2000, by: step).map { $0 }
    let spectra = measured.spectra(origin: median, frequencies: frequencies)
    var mean = [Complex](repeating: .zero, count: frequencies.count)
    for (at, value) in spectra.enumerated() {
      let (response, f) = at.quotientAndRemainder(dividingBy: frequencies.count)
      let alignment = Complex(phase: -2 * .pi * frequencies[f] * leads[response])
      mean[f] += shares[response / channels] * (value * alignment)
    }
    let slope = (1..<mean.count).reduce(Complex.zero) { $0 + mean[$1] * mean[$1 - 1].conjugate }
    let delay = -slope.phase / (2 * .pi * step)
    origin = median + delay * measured.sampleRate
    let polarity = mean.indices.reduce(0) {
      $0 + (mean[$1] * Complex(phase: 2 * .pi * frequencies[$1] * delay)).real
    }
    isInverted = polarity < 0
  }

  /// How far the measured array was from its description: the displacement t for which the arrival times are closest
  /// to τ − d·(r + t) / c, by least squares over all directions d and microphones at r.
  /// - Parameter seconds: arrival times, `[direction][microphone]`.
  private static func displacement(
    _ directions: [SIMD3<Double>], shares: [Double], positions: [Position], seconds: [Double]
  ) -> Position {
    // Normal equations of the unknowns (τ·c, t). The small diagonal keeps a coordinate at zero that no direction shows,
    // such as the height over a ring of loudspeakers.
    var matrix = [Double](repeating: 0, count: 16)
    var right = [Double](repeating: 0, count: 4)
    for (d, direction) in directions.enumerated() {
      let row = [1, -direction.x, -direction.y, -direction.z]
      let distances = positions.indices.map {
        speedOfSound * seconds[d * positions.count + $0] + direction.dot(positions[$0])
      }
      let weight = shares[d] * Double(positions.count)
      for i in 0..<4 {
        right[i] += weight * row[i] * mean(distances)
        for j in 0..<4 { matrix[4 * i + j] += weight * row[i] * row[j] }
      }
    }
    for i in 0..<4 { matrix[5 * i] += 1e-3 }
    guard Cholesky.factor(&matrix, order: 4) else { return .zero }
    Cholesky.solve(matrix, order: 4, &right)
    return [right[1], right[2], right[3]]
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
      // Neither do directions that are all at right angles to the axis.
      let extent = zip(shares, directions).reduce(0) { $0 + $1.0 * $1.1[axis] * $1.1[axis] }
      guard (offsets.max() ?? 0) - (offsets.min() ?? 0) > 0.007, extent > 0.02 else { continue }
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
