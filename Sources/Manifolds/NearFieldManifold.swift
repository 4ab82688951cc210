import Acoustics
import Numerics

/// The array manifold for point sources at a distance from the origin, instead of plane waves.
///
/// The plane-wave responses of any array, as functions of direction, are analysed in spherical harmonics. Degree n of a
/// point source's field is that of a plane wave times kρ hₙ(kρ) e^(jkρ) / j^(n+1). Where waves are long, high degrees are
/// weak in the responses and strong in that factor; only those that the array's size warrants are used.
/// - Source: Duraiswami, Zotkin and Gumerov, Interpolation and range extrapolation of HRTFs (2004).
package struct NearFieldManifold: ArrayManifold {
  private let base: any ArrayManifold
  /// In metres.
  private let distance: Double
  /// Greatest distance of a microphone, or of the body it is on, from the origin.
  private let radius: Double
  private let cache = CoefficientCache()

  package var positions: [Position] { base.positions }
  package var band: ClosedRange<Double> { base.band }
  package var sharesMirrorImages: Bool { base.sharesMirrorImages }
  package var remarks: [String] { base.remarks }
  package func importance(of directions: [SIMD3<Double>]) -> [Double]? { base.importance(of: directions) }
  package func knows(horizonAround up: SIMD3<Double>) -> Bool { base.knows(horizonAround: up) }

  private static let order = 30
  private static let harmonics = (order + 1) * (order + 1)
  private static let directions = fibonacciSphere(2000)
  /// The expansion does not depend on the choice of axes.
  private static let analysis = try! harmonicAnalysis(
    directions, shares: [Double](repeating: 1 / Double(directions.count), count: directions.count),
    order: order, file: "a sphere"
  ) { _ in 1e-9 }
  /// In hertz: below it, responses are those at it.
  private static let lowestFrequency = 20.0

  /// - Parameters:
  ///   - base: of plane waves.
  ///   - radius: of a sphere around the origin that holds microphones and body, in metres.
  ///   - distance: of the sources from the origin, in metres, greater than `radius`.
  package init(_ base: any ArrayManifold, radius: Double, distance: Double) {
    precondition(distance > radius, "sources are outside the body")
    self.base = base
    self.radius = radius
    self.distance = distance
  }

  /// - Returns: relative to the free field of the source at the origin.
  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    let blocks = cache.coefficients(frequencies, coefficients(at:))
    let synthesis = realSphericalHarmonics(order: Self.order, at: directions)
    let microphones = positions.count
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: microphones, directions: directions.count)
    grid.values.withUnsafeMutableBufferPointer { buffer in
      nonisolated(unsafe) let values = buffer
      DesignThreads.forEach(frequencies.count) { f in
        var result = [Double](repeating: 0, count: directions.count * 2 * microphones)
        multiply(
          synthesis, blocks[f].values, rows: directions.count, inner: Self.harmonics,
          columns: 2 * microphones, into: &result)
        for m in 0..<microphones {
          for d in directions.indices {
            let at = (d * microphones + m) * 2
            values[(f * microphones + m) * directions.count + d] = Complex(result[at], result[at + 1])
          }
        }
      }
    }
    return grid
  }

  /// Spherical-harmonic coefficients of the point sources' responses, a block per frequency.
  private func coefficients(at frequencies: [Double]) -> [CoefficientCache.Block] {
    let plane = base.responses(from: Self.directions, frequencies: frequencies)
    let (microphones, count) = (positions.count, Self.directions.count)
    return frequencies.indices.map { f in
      // [direction][microphone](real, imaginary)
      var columns = [Double](repeating: 0, count: count * 2 * microphones)
      for d in 0..<count {
        for m in 0..<microphones {
          columns[(d * microphones + m) * 2] = plane[f, m, d].real
          columns[(d * microphones + m) * 2 + 1] = plane[f, m, d].imaginary
        }
      }
      var values = [Double](repeating: 0, count: Self.harmonics * 2 * microphones)
      multiply(
        Self.analysis, columns, rows: Self.harmonics, inner: count, columns: 2 * microphones, into: &values)
      for (l, factor) in factors(frequency: frequencies[f]).enumerated() {
        for i in l * l * microphones..<(l + 1) * (l + 1) * microphones {
          let value = factor * Complex(values[2 * i], values[2 * i + 1])
          (values[2 * i], values[2 * i + 1]) = (value.real, value.imaginary)
        }
      }
      return CoefficientCache.Block(frequencies: f..<f + 1, values: values)
    }
  }

  /// The factor of each degree.
  private func factors(frequency: Double) -> [Complex] {
    let wavenumber = 2 * .pi * max(frequency, Self.lowestFrequency) / speedOfSound
    let x = wavenumber * distance
    let highest = min(Self.order, Int((2 * wavenumber * radius).rounded(.up)) + 2)
    // 1 / j^(n+1)
    let powers = [Complex(0, -1), Complex(-1, 0), Complex(0, 1), Complex(1, 0)]
    let turn = x * Complex(phase: x)
    return sphericalHankel(highestOrder: Self.order, argument: x).enumerated().map { n, h in
      n <= highest ? turn * (h * powers[n % 4]) : .zero
    }
  }
}

extension Device {
  /// Radius of a sphere around the origin that holds all microphones and a body of known shape, in metres.
  package var extent: Double {
    let farthest = microphones.map(\.position.length).max() ?? 0
    return max(body.shape.reach ?? 0, farthest)
  }
}
