import Acoustics
import FoundationEssentials
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

  /// - Parameter channels: of the microphones used.
  package init(device: Device, channels: [Int], manifold: any ArrayManifold) {
    self.manifold = manifold
    self.channels = channels
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
  /// - Parameter patterns: α of each pattern, its axis (cos θ = 1), a unit vector of the device frame, and `channels` in
  ///   the order of its data source.
  /// - Returns: filters of one output for each pattern, from the microphones used, in the order of `channels`.
  package func filters(
    _ patterns: [(omnidirectionalPart: Double, forward: SIMD3<Double>, order: [Int])], grid: DesignGrid,
    step: DesignStep
  ) throws(DesignError) -> [Taps<Float>] {
    let sphere = cubedSphere(parameters.mono.directions)
    let frequencies = grid.frequencies
    var responses = try manifold.responses(from: sphere, frequencies: frequencies, step: step.within(0...0.1))
      .selecting(channels: channels)
    let amplitudes = manifold.amplitudes(of: sphere)
    responses.scale(directionsBy: amplitudes)
    return try responses.values.withUnsafeBufferPointer { buffer throws(DesignError) in
      let matches = try BinMatching.all(
        buffer, microphones: channels.count, directions: sphere.count, step: step.within(0.1...0.2))
      let basis = CorrectionBasis(grid: grid, matches: matches, parameters: parameters.truncation)
      var axes: [SIMD3<Double>: [PatternAxis]] = [:]
      for (_, forward, _) in patterns where axes[forward] == nil {
        axes[forward] = try axis(
          forward, matches, sphere: sphere, amplitudes: amplitudes, grid: grid, step: step)
      }
      let leads = sphere.map { $0.dot(centroid) / speedOfSound }
      let all = patterns.map { omnidirectionalPart, forward, order in
        PatternMatching(
          grid: grid, matches: matches, axis: axes[forward]!, cosines: sphere.map { $0.dot(forward) },
          amplitudes: amplitudes, omnidirectionalPart: omnidirectionalPart, crossover: crossover,
          order: order.map { channels.firstIndex(of: $0)! }, leads: leads, parameters: parameters.mono)
      }
      let parts = min(all.count, ProcessInfo.processInfo.activeProcessorCount)
      let steps = step.within(0.2...1).divided(by: (0..<parts).map { _ in 1 })
      let filters = Mutex([Taps<Float>?](repeating: nil, count: all.count))
      try DesignThreads.forEach(parts) { part throws(DesignError) in
        let numbers = Array(stride(from: part, to: all.count, by: parts))
        let matchings = numbers.map { all[$0] }
        let bins = try PatternMatching.bins(matchings, step: steps[part].within(0...0.6))
        let rest = steps[part].within(0.6...1)
        for first in stride(from: 0, to: numbers.count, by: basis.mostTogether) {
          let some = first..<min(first + basis.mostTogether, numbers.count)
          let taps = try TruncationRepair(
            matchings: Array(matchings[some]), basis: basis, parameters: parameters.truncation
          ).filters(
            from: Array(bins[some]),
            step: rest.within(
              Double(first) / Double(numbers.count)...Double(some.upperBound) / Double(numbers.count)))
          filters.withLock { for (number, taps) in zip(numbers[some], taps) { $0[number] = taps } }
        }
      }
      return filters.withLock { $0.map { $0! } }
    }
  }

  /// What the patterns of an axis share.
  ///
  /// Patterns are wanted as they are heard at the microphones' centroid, so that targets have its lead. What is matched by
  /// magnitude alone does not depend on it.
  private func axis(
    _ forward: SIMD3<Double>, _ matches: [BinMatching], sphere: [SIMD3<Double>], amplitudes: [Double],
    grid: DesignGrid, step: DesignStep
  ) throws(DesignError) -> [PatternAxis] {
    let frequencies = grid.frequencies
    let onAxis = try manifold.responses(from: [forward], frequencies: frequencies, step: step)
    var leads = Phasors(delays: (sphere + [forward]).map { $0.dot(centroid) / speedOfSound })
    let highest = max(crossover, parameters.truncation.lowestFrequencyAtMost.value) + grid.binWidth
    var targets = [Complex](repeating: .zero, count: 2 * sphere.count)
    var axis: [PatternAxis] = []
    for (bin, frequency) in frequencies.enumerated() {
      leads.advance(to: frequency)
      let lag = leads.values[sphere.count].conjugate
      let isComplex = frequency <= highest
      if isComplex {
        for d in sphere.indices {
          targets[d] = amplitudes[d] * leads.values[d]
          targets[sphere.count + d] = sphere[d].dot(forward) * targets[d]
        }
      }
      axis.append(
        PatternAxis(
          matches[bin], responses: channels.map { lag * onAxis[bin, $0, 0] },
          targets: isComplex ? targets : nil))
    }
    return axis
  }
}
