import Acoustics
import FilterDesign
import Glibc
import Manifolds
import Numerics
import Realtime

/// What the analysis knows of an array: its responses from every direction, and the tables of the search.
///
/// Immutable; the tables are computed once for an array and a sample rate.
package final class ArrayTable: @unchecked Sendable {
  package let grid: AnalysisGrid
  /// The number of those of `places`.
  package let microphones: Int
  /// The microphones that are heard: all, or, of more than eight, eight far from each other.
  let places: [Int]
  private let manifold: any ArrayManifold
  /// Those of the search: unit vectors of the device frame, by patches of 16 neighbours, in quarters of which the first
  /// stands for all.
  package let directions: [SIMD3<Double>]
  /// Those of responses and errors, about 3° apart.
  package let fineDirections: [SIMD3<Double>]
  /// Of each direction of the search, the fine ones around it; the nearest comes first.
  let around: [[Int]]
  /// For each point of the search, so that a steered power is a sum of products with the terms of a covariance:
  /// `[point][patch][microphones²][direction of the patch]`; and that of the quarters' first, 16 at a time, likewise.
  let steering: AlignedMemory
  let coarse: AlignedMemory
  /// For each point, the coefficients of the power that steered powers are relative to: `[point][microphones²]`.
  let normaliser: AlignedMemory
  /// Steering vectors `[fine direction][bin][microphone]`, real and imaginary parts in turn; vectors of eight can be read.
  let responses: AlignedMemory
  /// Inverse of the covariance of diffuse sound, `[bin][column]`.
  let inverse: MicrophoneVectors
  /// The directions around each direction and their weights in the histogram.
  let neighbours: [[(direction: Int, weight: Float)]]

  /// Directions of the search.
  package static let directionCount = 1200
  /// And of those that are tried first.
  static let coarseCount = directionCount / 4
  /// Rounded up to whole vectors.
  static let coarseStride = (coarseCount + 15) / 16 * 16
  static var patches: Int { directionCount / 16 }
  package static let fineCount = 4800
  /// Angle around a direction of the search in which finer ones are tried, in degrees.
  private static let refinement = 5.0
  /// Added to the diagonal of the covariance of diffuse sound, relative to its mean: in the search, and in the beams.
  private static let searchLoading = 0.1
  private static let beamLoading = 0.02
  /// Concentration of the histogram's kernel.
  private static let concentration = 60.0

  package convenience init(_ manifold: any ArrayManifold, sampleRate: Int) {
    let directions = patched(fibonacciSphere(Self.directionCount), 16)
    let grid = AnalysisGrid(sampleRate: sampleRate, highestKnown: manifold.band.upperBound)
    let fine = fibonacciSphere(Self.fineCount)
    let places = spread(manifold.positions, MicrophoneVectors.most)
    func responses(from directions: [SIMD3<Double>]) -> ResponseGrid {
      if places.count == manifold.microphoneCount {
        return manifold.responses(from: directions, frequencies: grid.frequencies)
      }
      var all = ResponseGrid(
        frequencies: grid.bins.count, channels: places.count, directions: directions.count)
      Self.inParts(manifold, from: directions, grid) { part, first in
        for bin in grid.bins.indices.map({ $0 - grid.bins.lowerBound }) {
          for (m, place) in places.enumerated() {
            for d in 0..<part.directions { all[bin, m, first + d] = part[bin, place, d] }
          }
        }
      }
      return all
    }
    self.init(responses(from: directions), directions, responses(from: fine), fine, grid, manifold, places)
  }

  /// Calls `body` with the responses of all microphones from some directions at a time, and the number of the first.
  private static func inParts(
    _ manifold: any ArrayManifold, from directions: [SIMD3<Double>], _ grid: AnalysisGrid,
    _ body: (ResponseGrid, Int) -> Void
  ) {
    for first in stride(from: 0, to: directions.count, by: 600) {
      let some = Array(directions[first..<min(first + 600, directions.count)])
      body(manifold.responses(from: some, frequencies: grid.frequencies), first)
    }
  }

  private init(
    _ all: ResponseGrid, _ directions: [SIMD3<Double>], _ fine: ResponseGrid,
    _ fineDirections: [SIMD3<Double>], _ grid: AnalysisGrid, _ manifold: any ArrayManifold, _ places: [Int]
  ) {
    let microphones = all.channels
    let count = directions.count
    self.grid = grid
    (self.manifold, self.places) = (manifold, places)
    self.microphones = microphones
    self.directions = directions
    self.fineDirections = fineDirections
    let edge = cos(Self.refinement * .pi / 180)
    around = directions.map { centre in
      let near = fineDirections.indices.map { (index: $0, cosine: fineDirections[$0].dot(centre)) }
        .filter { $0.cosine > edge }
      return near.sorted { $0.cosine > $1.cosine }.map(\.index)
    }
    let terms = microphones * microphones
    let bins = grid.bins.count
    let fineCount = fineDirections.count
    responses = AlignedMemory(count: bins * fineCount * microphones * 2 + 16)
    inverse = MicrophoneVectors(count: bins * microphones)
    for bin in 0..<bins {
      for d in 0..<fineCount {
        for m in 0..<microphones {
          let value = fine[bin, m, d]
          let at = ((d * bins + bin) * microphones + m) * 2
          responses.floats[at] = Float(value.real)
          responses.floats[at + 1] = Float(value.imaginary)
        }
      }
      let inverted = HermitianMatrix.diffuse(all, bin, loading: Self.beamLoading).inverse
      for (n, value) in inverted.values.enumerated() {
        inverse[bin * microphones + n % microphones, n / microphones] = (
          Float(value.real), Float(value.imaginary)
        )
      }
    }
    let points = grid.points.flatMap { $0 }
    steering = AlignedMemory(count: points.count * terms * count)
    coarse = AlignedMemory(count: points.count * terms * Self.coarseStride)
    normaliser = AlignedMemory(count: points.count * terms)
    for (point, bin) in points.enumerated() {
      let whitener = HermitianMatrix.diffuse(all, bin - grid.bins.lowerBound, loading: Self.searchLoading)
        .inverse
      let row = steering.floats + point * terms * count
      let coarseRow = coarse.floats + point * terms * Self.coarseStride
      for (term, value) in whitener.quadratic.enumerated() {
        normaliser.floats[point * terms + term] = Float(value)
      }
      for d in 0..<count {
        let response = (0..<microphones).map { all[bin - grid.bins.lowerBound, $0, d] }
        // In whitened signals, the power of the direction relative to that of all: |aᴴG⁻¹x|² / (aᴴG⁻¹a · xᴴG⁻¹x).
        let beam = whitener.times(response)
        let gain = zip(response, beam).reduce(0) { $0 + ($1.0.conjugate * $1.1).real }
        let scaled = beam.map { (1 / gain.squareRoot()) * $0 }
        for (term, value) in HermitianMatrix(outer: scaled).quadratic.enumerated() {
          row[(d / 16 * terms + term) * 16 + d % 16] = Float(value)
          if d % 4 == 0 { coarseRow[(d / 64 * terms + term) * 16 + d / 4 % 16] = Float(value) }
        }
      }
    }
    neighbours = directions.map { centre in
      let all = directions.enumerated().map {
        ($0.offset, exp(Self.concentration * (centre.dot($0.element) - 1)))
      }
      .filter { $0.1 > 0.01 }
      let sum = all.reduce(0) { $0 + $1.1 }
      return all.map { ($0.0, Float($0.1 / sum)) }
    }
  }

  /// The steering vector of a fine direction: `[microphone]`, real and imaginary parts in turn; eight can be read.
  func response(bin: Int, _ direction: Int) -> UnsafePointer<Float> {
    UnsafePointer(responses.floats + (direction * grid.bins.count + bin) * microphones * 2)
  }

  /// The number of the array's microphones, and whether all are heard.
  var channels: Int { manifold.microphoneCount }
  var isWhole: Bool { places.count == channels }

  /// Calls `write` with what filters pass of sound from every fine direction: bin, output, direction, value.
  /// - Parameter weights: of all microphones.
  func passed(by weights: Weights, _ write: (Int, Int, Int, Complex) -> Void) {
    let (bins, outputs, microphones) = (grid.bins.count, weights.outputs, weights.microphones)
    func add(_ count: Int, _ first: Int, _ response: (Int, Int, Int) -> Complex) {
      for bin in 0..<bins {
        let weights = weights[bin]
        for output in 0..<outputs {
          for d in 0..<count {
            var sum = Complex.zero
            for m in 0..<microphones { sum += weights[output * microphones + m] * response(bin, m, d) }
            write(bin, output, first + d, sum)
          }
        }
      }
    }
    if isWhole {
      add(fineDirections.count, 0) { bin, m, d in
        let response = self.response(bin: bin, d)
        return Complex(Double(response[2 * m]), Double(response[2 * m + 1]))
      }
    } else {
      Self.inParts(manifold, from: fineDirections, grid) { part, first in
        add(part.directions, first) { part[$0, $1, $2] }
      }
    }
  }

  deinit {
    steering.free()
    coarse.free()
    normaliser.free()
    responses.free()
    inverse.free()
  }
}

/// Unit vectors by patches of neighbours: halved across where they are widest until none has more than `size`; the parts of a
/// patch likewise, four at a time, of which the one nearest to their middle comes first.
/// - Parameter size: 4 or 16, of which there is a whole number.
private func patched(_ all: [SIMD3<Double>], _ size: Int) -> [SIMD3<Double>] {
  if all.count > size {
    let axis = (0..<3).max { width(all, $0) < width(all, $1) }!
    let inOrder = all.sorted { $0[axis] < $1[axis] }
    let half = all.count / size / 2 * size
    return patched(Array(inOrder[..<half]), size) + patched(Array(inOrder[half...]), size)
  }
  if size > 4 { return patched(all, 4) }
  let middle = all.reduce(.zero, +)
  return all.sorted { $0.dot(middle) > $1.dot(middle) }
}

private func width(_ all: [SIMD3<Double>], _ axis: Int) -> Double {
  all.map { $0[axis] }.max()! - all.map { $0[axis] }.min()!
}

/// Some of these positions, far from each other: each is the one farthest from those before; all if there are no more.
private func spread(_ positions: [Position], _ count: Int) -> [Int] {
  guard positions.count > count else { return Array(positions.indices) }
  let points = positions.map { SIMD3($0.x, $0.y, $0.z) }
  let middle = points.reduce(.zero, +) / Double(points.count)
  var distances = points.map { ($0 - middle).dot($0 - middle) }
  var chosen: [Int] = []
  while chosen.count < count {
    let next = distances.indices.max { distances[$0] < distances[$1] }!
    if chosen.isEmpty { distances = distances.map { _ in .infinity } }
    chosen.append(next)
    for n in points.indices {
      distances[n] = min(distances[n], (points[n] - points[next]).dot(points[n] - points[next]))
    }
  }
  return chosen.sorted()
}
