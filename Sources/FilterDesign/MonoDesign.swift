import Acoustics
import Foundation

/// First-order patterns α + (1 − α) cos θ for one output, by regularised least squares over the sphere.
///
/// Below a crossover the match is complex, above it only magnitudes count. The phase origin is the centroid of
/// the microphones. The regulariser grows until the white-noise gain is at least −10 dB; a pattern that cannot
/// get there (a figure of eight at low frequencies, which no regulariser makes less directional) rolls off
/// on axis instead, so that its noise stays within the same bound. The response on axis is made flat, but
/// never by raising the mean of all directions above −6 dB.
/// - Source: Benesty and Chen, Study and Design of Differential Microphone Arrays (2013); white-noise gain
///   constraint after Cox, Zeskind and Owen, Robust adaptive beamforming (1987).
struct MonoDesign {
  /// White-noise gain that every bin keeps, as a power ratio: −10 dB.
  static let whiteNoiseGainFloor = 0.1
  static let magnitudePasses = 8
  /// Where the pattern is weaker on axis than over all directions, equalisation stops at the inverse of this.
  static let leastOnAxis = 0.5

  let manifold: any ArrayManifold
  /// Of the microphones used, in metres; and their channels.
  let positions: [Position]
  let channels: [Int]
  let body: Body

  init(device: Device, source: DataSource, manifold: any ArrayManifold) {
    self.manifold = manifold
    channels = source.microphones
    positions = channels.map { device.microphones[$0].position }
    body = device.body
  }

  private var centroid: Position { positions.reduce(.zero, +) / Double(positions.count) }

  /// Frequency above which only magnitudes count: where the array is about a third of a wavelength in radius,
  /// 2.5 kHz for a ring of 43 mm; at most 8 kHz, and 1.8 kHz on a box, whose phases no pair can follow.
  var crossover: Double {
    let squares = positions.map { ($0 - centroid).dot($0 - centroid) }
    let radius = max((squares.reduce(0, +) / Double(squares.count)).squareRoot(), 1e-4)
    let limit: Double
    if case .box = body { limit = 1800 } else { limit = 8000 }
    return min(limit, 1.83 * speedOfSound / (2 * .pi * radius))
  }

  /// - Parameters:
  ///   - omnidirectionalPart: α.
  ///   - forward: unit vector of the device frame at which cos θ = 1.
  /// - Returns: filters of one output, `[microphone used][tap]`.
  func filters(omnidirectionalPart: Double, forward: SIMD3<Double>, grid: DesignGrid) -> [[Double]] {
    let sphere = fibonacciSphere(1200)
    let frequencies = grid.frequencies
    let responses = centred(from: sphere, frequencies: frequencies)
    let onAxis = centred(from: [forward], frequencies: frequencies)
    let target = sphere.map { omnidirectionalPart + (1 - omnidirectionalPart) * $0.dot(forward) }
    var weights = Weights(frequencies: frequencies.count, outputs: 1, microphones: channels.count)
    var energies: [[Complex]] = []
    var pattern = [Complex](repeating: .zero, count: sphere.count)
    responses.values.withUnsafeBufferPointer { buffer in
      for (bin, frequency) in frequencies.enumerated() {
        let match = BinMatching(
          responses: buffer.baseAddress! + bin * channels.count * sphere.count, microphones: channels.count,
          directions: sphere.count)
        let axis = (0..<channels.count).map { onAxis[bin, $0, 0] }
        var current: [Complex]
        if frequency <= crossover || bin == 0 {
          let wanted = target.map { Complex($0, 0) }
          current = solve(match, wanted: wanted, axis: axis, least: 1e-9)
        } else {
          current = weights[bin - 1]
          for _ in 0..<Self.magnitudePasses {
            match.pattern(of: current, outputs: 1, into: &pattern)
            let wanted = zip(target, pattern).map { level, reached in abs(level) * reached.direction }
            current = solve(match, wanted: wanted, axis: axis, least: 1e-4)
          }
        }
        weights[bin] = flattened(current, match, axis: axis)
        energies.append(match.energyMatrix)
      }
    }
    return TruncationRepair(grid: grid).repair(
      weights.filters(on: grid)[0], weights: weights, energies: energies)
  }

  /// Responses of the microphones used, relative to the free field at their centroid.
  private func centred(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    var responses = manifold.responses(from: directions, frequencies: frequencies).selecting(
      channels: channels)
    let leads = directions.map { $0.dot(centroid) / speedOfSound }
    responses.values.withUnsafeMutableBufferPointer { values in
      for (f, frequency) in frequencies.enumerated() {
        for (d, lead) in leads.enumerated() {
          let shift = Complex(phase: -2 * .pi * frequency * lead)
          for m in channels.indices { values[(f * channels.count + m) * directions.count + d] *= shift }
        }
      }
    }
    return responses
  }

  private func solve(_ match: BinMatching, wanted: [Complex], axis: [Complex], least: Double) -> [Complex] {
    let largest = match.energy.values.last!
    let correlation = match.correlation(with: wanted, outputs: 1)[0]
    func isRobust(_ components: [Complex]) -> Bool {
      let weights = match.energy.combine(components)
      return response(weights, axis).squaredMagnitude >= Self.whiteNoiseGainFloor * energy(weights)
    }
    let plain = match.regularised(correlation, from: least * largest, to: largest) { _ in true }
    let robust = match.regularised(correlation, from: least * largest, to: largest * 1e3, accepts: isRobust)
    return match.energy.combine(isRobust(robust) ? robust : plain)
  }

  /// `weights` with a flat response on axis, as far as equalisation and noise allow.
  private func flattened(_ weights: [Complex], _ match: BinMatching, axis: [Complex]) -> [Complex] {
    let diffuse = weights.withUnsafeBufferPointer { weights in
      zip(match.energy.project(weights.baseAddress!), match.energy.values)
        .reduce(0) { $0 + $1.0.squaredMagnitude * $1.1 }.squareRoot()
    }
    let reached = max(response(weights, axis).magnitude, min(Self.leastOnAxis, diffuse), 1e-9)
    let flat = weights.map { (1 / reached) * $0 }
    let excess = energy(flat) * Self.whiteNoiseGainFloor
    return excess > 1 ? flat.map { (1 / excess.squareRoot()) * $0 } : flat
  }

  private func response(_ weights: [Complex], _ axis: [Complex]) -> Complex {
    zip(weights, axis).reduce(.zero) { $0 + $1.0 * $1.1 }
  }

  private func energy(_ weights: [Complex]) -> Double { weights.reduce(0) { $0 + $1.squaredMagnitude } }
}
