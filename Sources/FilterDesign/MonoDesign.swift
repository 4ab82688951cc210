import Acoustics
import Manifolds
import Numerics
import Synchronization

/// Designs first-order patterns α + (1 − α) cos θ for one output, by regularised least squares over the sphere.
///
/// The phase origin is the centroid of the microphones. `PatternMatching` finds the weights of each bin.
/// `TruncationRepair` turns them into filters and corrects the error that truncation introduces.
/// - Source: Benesty and Chen, Study and Design of Differential Microphone Arrays (2013); white-noise gain
///   constraint after Cox, Zeskind and Owen, Robust adaptive beamforming (1987).
package struct MonoDesign {
  package let manifold: any ArrayManifold
  /// Channels of the microphones used.
  package let channels: [Int]
  private let parameters: DesignParameters
  private let centroid: Position
  private let radius: Double

  package init(device: Device, source: DataSource, manifold: any ArrayManifold) {
    self.manifold = manifold
    channels = source.microphones
    let positions = channels.map { manifold.positions[$0] }
    let centroid = positions.reduce(.zero, +) / Double(positions.count)
    self.centroid = centroid
    let squares = positions.map { ($0 - centroid).dot($0 - centroid) }
    radius = (squares.reduce(0, +) / Double(squares.count)).squareRoot()
    parameters = device.design
  }

  /// Frequency above which only magnitudes are matched, in hertz.
  var crossover: Double {
    let mono = parameters.mono
    return min(mono.highestCrossover.value, mono.crossoverSize * speedOfSound / (2 * .pi * max(radius, 1e-4)))
  }

  /// Designs several patterns, on all cores, which share the responses of the microphones, whatever their axes.
  /// - Parameter patterns: α of each pattern, and its axis (cos θ = 1), a unit vector of the device frame.
  /// - Returns: filters of one output for each pattern, from the microphones used, in the order of `channels`.
  package func filters(
    _ patterns: [(omnidirectionalPart: Double, forward: SIMD3<Double>)], grid: DesignGrid, step: DesignStep
  ) throws(DesignError) -> [Taps<Float>] {
    let sphere = cubedSphere(parameters.mono.directions)
    let frequencies = grid.frequencies
    var responses = try centred(from: sphere, frequencies: frequencies, step: step.within(0...0.1))
    let amplitudes = manifold.amplitudes(of: sphere)
    responses.scale(directionsBy: amplitudes)
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: channels.count, directions: sphere.count, step: step.within(0.1...0.2))
      let basis = CorrectionBasis(grid: grid, matches: matches, parameters: parameters.truncation)
      var axes: [SIMD3<Double>: [PatternAxis]] = [:]
      for (_, forward) in patterns where axes[forward] == nil {
        axes[forward] = try axis(
          forward, matches, sphere: sphere, amplitudes: amplitudes, frequencies: frequencies, step: step)
      }
      let steps = step.within(0.2...1).divided(by: patterns.map { _ in 1 })
      let filters = Mutex([Taps<Float>?](repeating: nil, count: patterns.count))
      let shared = axes
      try DesignThreads.forEach(patterns.count) { number throws(DesignError) in
        let (omnidirectionalPart, forward) = patterns[number]
        let matching = PatternMatching(
          grid: grid, matches: matches, axis: shared[forward]!, cosines: sphere.map { $0.dot(forward) },
          amplitudes: amplitudes, omnidirectionalPart: omnidirectionalPart, crossover: crossover,
          parameters: parameters.mono)
        let bins = try matching.bins(step: steps[number].within(0...0.5))
        let taps = try TruncationRepair(matching: matching, basis: basis, parameters: parameters.truncation)
          .filters(from: bins, step: steps[number].within(0.5...1))
        filters.withLock { $0[number] = taps }
      }
      return filters.withLock { $0.map { $0! } }
    }
  }

  /// What the patterns of an axis share.
  private func axis(
    _ forward: SIMD3<Double>, _ matches: [BinMatching], sphere: [SIMD3<Double>], amplitudes: [Double],
    frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> [PatternAxis] {
    let onAxis = try centred(from: [forward], frequencies: frequencies, step: step)
    let targets =
      amplitudes.map { Complex($0, 0) }
      + zip(amplitudes, sphere).map { Complex($0 * $1.dot(forward), 0) }
    return frequencies.indices.map { bin in
      PatternAxis(
        matches[bin], responses: channels.indices.map { onAxis[bin, $0, 0] }, targets: targets)
    }
  }

  /// Responses of the microphones used, relative to the free field at their centroid:
  /// `[frequency][microphone used][direction]`.
  private func centred(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    var responses = try manifold.responses(from: directions, frequencies: frequencies, step: step)
      .selecting(channels: channels)
    guard centroid != .zero else { return responses }
    var lags = Phasors(delays: directions.map { -$0.dot(centroid) / speedOfSound })
    try responses.values.withUnsafeMutableBufferPointer { values throws(DesignError) in
      for (f, frequency) in frequencies.enumerated() {
        try step.check()
        lags.advance(to: frequency)
        lags.values.withUnsafeBufferPointer { lags in
          for m in channels.indices {
            let row = values.baseAddress! + (f * channels.count + m) * lags.count
            for d in lags.indices { row[d] = lags[d] * row[d] }
          }
        }
      }
    }
    return responses
  }
}
