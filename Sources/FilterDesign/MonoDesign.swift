import Acoustics
import Manifolds
import Numerics

/// Designs first-order patterns α + (1 − α) cos θ for one output, by regularised least squares over the sphere.
///
/// The phase origin is the centroid of the microphones. `PatternMatching` finds the weights of each bin.
/// `TruncationRepair` turns them into filters and corrects the error that truncation introduces.
/// - Source: Benesty and Chen, Study and Design of Differential Microphone Arrays (2013); white-noise gain
///   constraint after Cox, Zeskind and Owen, Robust adaptive beamforming (1987).
package struct MonoDesign {
  package let manifold: any ArrayManifold
  /// Positions of the microphones used, in metres.
  let positions: [Position]
  /// Channels of the microphones used.
  package let channels: [Int]
  private let parameters: DesignParameters

  package init(device: Device, source: DataSource, manifold: any ArrayManifold) {
    self.manifold = manifold
    channels = source.microphones
    positions = channels.map { manifold.positions[$0] }
    parameters = device.design
  }

  private var centroid: Position { positions.reduce(.zero, +) / Double(positions.count) }

  /// Frequency above which only magnitudes are matched, in hertz.
  var crossover: Double {
    let squares = positions.map { ($0 - centroid).dot($0 - centroid) }
    let radius = max((squares.reduce(0, +) / Double(squares.count)).squareRoot(), 1e-4)
    let mono = parameters.mono
    return min(mono.highestCrossover.value, mono.crossoverSize * speedOfSound / (2 * .pi * radius))
  }

  /// Designs several patterns, which share the responses of the microphones.
  /// - Parameters:
  ///   - omnidirectionalParts: α of each pattern.
  ///   - forward: the patterns' axis (cos θ = 1), a unit vector of the device frame.
  /// - Returns: filters of one output for each pattern, from the microphones used, in the order of `channels`.
  package func filters(
    omnidirectionalParts: [Double], forward: SIMD3<Double>, grid: DesignGrid, step: DesignStep
  ) throws(DesignError) -> [Taps<Float>] {
    let sphere = cubedSphere(parameters.mono.directions)
    let frequencies = grid.frequencies
    var responses = try centred(from: sphere, frequencies: frequencies, step: step.within(0...0.2))
    let onAxis = try centred(from: [forward], frequencies: frequencies, step: step)
    let amplitudes = manifold.amplitudes(of: sphere)
    responses.scale(directionsBy: amplitudes)
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: channels.count, directions: sphere.count, step: step.within(0.2...0.3))
      let steps = step.within(0.3...1).divided(by: omnidirectionalParts.map { _ in 1 })
      var filters: [Taps<Float>] = []
      for (omnidirectionalPart, step) in zip(omnidirectionalParts, steps) {
        let matching = PatternMatching(
          grid: grid, matches: matches,
          onAxisResponses: frequencies.indices.map { bin in channels.indices.map { onAxis[bin, $0, 0] } },
          cosines: sphere.map { $0.dot(forward) }, amplitudes: amplitudes,
          omnidirectionalPart: omnidirectionalPart, crossover: crossover, parameters: parameters.mono)
        let bins = try matching.bins(step: step.within(0...0.5))
        filters.append(
          try TruncationRepair(matching: matching, parameters: parameters.truncation)
            .filters(from: bins, step: step.within(0.5...1)))
      }
      return filters
    }
  }

  /// Responses of the microphones used, relative to the free field at their centroid:
  /// `[frequency][microphone used][direction]`.
  private func centred(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    var responses = try manifold.responses(from: directions, frequencies: frequencies, step: step)
      .selecting(channels: channels)
    var lags = Phasors(delays: directions.map { -$0.dot(centroid) / speedOfSound })
    try responses.values.withUnsafeMutableBufferPointer { values throws(DesignError) in
      for (f, frequency) in frequencies.enumerated() {
        try step.check()
        lags.advance(to: frequency)
        for d in directions.indices {
          for m in channels.indices {
            values[(f * channels.count + m) * directions.count + d] *= lags.values[d]
          }
        }
      }
    }
    return responses
  }
}
