import Acoustics
import Synchronization

/// Microphones anywhere on the surface of a rigid box around the origin, by boundary elements.
///
/// The box is solved at frequencies 375 Hz apart (closer for large boxes) up to 24 kHz, and the incident wave
/// is summed over the mesh for each direction asked for: none is interpolated. Between the frequencies the
/// responses are those of their impulse responses, with the microphone's lead in the free field taken out.
/// Above 24 kHz only that lead goes on changing.
package struct BoxManifold: ArrayManifold {
  package static let highestFrequency = 24_000.0
  /// Mean width of panels in metres, as far as `BoxMesh.mostPanels` allows.
  package static let panelWidth = 0.0045
  /// That of meshes that designs are held against.
  package static let finePanelWidth = 0.003
  /// Edge lengths of a box, in metres. Panels of cubes over 0.15 m are wider than a third of a wavelength at 24 kHz.
  package static let edgeLengths = 0.001...0.5
  /// How far from the surface a microphone may be said to be, in metres.
  package static let tolerance = 0.001

  package let size: SIMD3<Double>
  /// On the surface: those asked for, moved there.
  package let positions: [Position]
  package var microphoneCount: Int { positions.count }

  private let points: BoxPoints
  /// Of each frequency solved: real rows, (real, imaginary) of each microphone, times `[sector][point]`.
  private let weights: [[Double]]
  private let interpolation: SpectrumInterpolation

  /// Solves on all cores.
  /// - Parameters:
  ///   - positions: in metres; the nearest points of the surface are used.
  ///   - size: edge lengths in metres.
  ///   - step: hears how much is solved.
  package init(
    positions: [Position], size: SIMD3<Double>, panelWidth: Double = Self.panelWidth,
    step: DesignStep = .unobserved
  ) throws(DesignError) {
    try Self.check(size: size)
    for (i, position) in positions.enumerated() {
      try Self.check(position: position, of: "number \(i + 1)", size: size)
    }
    let surface = positions.map { Self.nearestSurfacePoint(to: $0, size: size) }
    self.size = size
    self.positions = surface
    // Impulse responses last as long as sound goes around the box a few times.
    let count = 64 * Int((size.length / 0.35).rounded(.up))
    interpolation = SpectrumInterpolation(count: count, width: Self.highestFrequency / Double(count))
    let width = interpolation.width
    let solver = try BoundaryElements(
      mesh: BoxMesh(size: size, width: panelWidth), microphones: surface, step: step.within(0...0.05))
    points = BoxPoints(solver.points)
    let results = Mutex([[Double]?](repeating: nil, count: count))
    let steps = step.within(0.05...1).divided(by: [Double](repeating: 1, count: count))
    try DesignThreads.forEach(count) { i throws(DesignError) in
      let weights = try solver.weights(frequency: Double(i + 1) * width, step: steps[i]).map {
        Self.realRows($0, microphones: surface.count)
      }
      results.withLock { $0[i] = weights }
      try steps[i].reached(1)
    }
    let rows = results.withLock { $0.compactMap { $0 } }
    guard rows.count == count else {
      throw DesignError(
        "the sound field around a box of \(millimetres(size)) could not be computed; check its size")
    }
    weights = rows
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    let known = knownResponses(from: directions)
    let columns = positions.count * directions.count
    let matrix = interpolation.matrix(frequencies: frequencies)
    var product = [Double](repeating: 0, count: 2 * frequencies.count * columns)
    multiply(
      matrix, known, rows: 2 * frequencies.count, inner: 2 * (interpolation.count + 1), columns: columns,
      into: &product)
    var grid = ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count)
    let leads = positions.flatMap { position in directions.map { $0.dot(position) / speedOfSound } }
    grid.values.withUnsafeMutableBufferPointer { values in
      for (f, frequency) in frequencies.enumerated() {
        for i in 0..<columns {
          values[f * columns + i] =
            Complex(product[2 * f * columns + i], product[(2 * f + 1) * columns + i])
            * Complex(phase: 2 * .pi * frequency * leads[i])
        }
      }
    }
    return grid
  }

  /// Responses at the frequencies solved, relative to the free field at each microphone: 0 Hz and up, real
  /// parts, then imaginary parts. Shape `[2 × frequency][microphone][direction]`.
  private func knownResponses(from directions: [SIMD3<Double>]) -> [Double] {
    let count = interpolation.count
    let columns = positions.count * directions.count
    let imaginary = (count + 1) * columns
    var known = [Double](repeating: 0, count: 2 * imaginary)
    for i in 0..<columns { known[i] = 1 }
    for (f, weights) in weights.enumerated() {
      let wavenumber = 2 * .pi * Double(f + 1) * interpolation.width / speedOfSound
      let rows = weights.count / (2 * positions.count)
      // Few enough directions at a time to stay in the cache.
      for first in stride(from: 0, to: directions.count, by: 64) {
        let block = Array(directions[first..<min(first + 64, directions.count)])
        let waves = points.sectors(of: block, wavenumber: wavenumber, count: rows / Parity.count)
        var sums = [Double](repeating: 0, count: 2 * positions.count * block.count)
        multiply(weights, waves, rows: 2 * positions.count, inner: rows, columns: block.count, into: &sums)
        for (m, position) in positions.enumerated() {
          for (d, direction) in block.enumerated() {
            let sum = Complex(sums[2 * m * block.count + d], sums[(2 * m + 1) * block.count + d])
            let value = Complex(2, 0) + sum * Complex(phase: -wavenumber * direction.dot(position))
            let at = (f + 1) * columns + m * directions.count + first + d
            known[at] = value.real
            known[imaginary + at] = value.imaginary
          }
        }
      }
    }
    return known
  }

  /// From `[sector][microphone][point]` to real rows: an odd axis makes a wave's part imaginary.
  private static func realRows(_ weights: [Complex], microphones: Int) -> [Double] {
    let points = weights.count / (Parity.count * microphones)
    let turns = [Complex.one, Complex(0, 1), Complex(-1, 0), Complex(0, -1)]
    let row = Parity.count * points
    var rows = [Double](repeating: 0, count: 2 * microphones * row)
    for sector in 0..<Parity.count {
      let turn = turns[sector.nonzeroBitCount]
      for m in 0..<microphones {
        for p in 0..<points {
          let weight = turn * weights[(sector * microphones + m) * points + p]
          rows[2 * m * row + sector * points + p] = weight.real
          rows[(2 * m + 1) * row + sector * points + p] = weight.imaginary
        }
      }
    }
    return rows
  }

  static func check(size: SIMD3<Double>) throws(DesignError) {
    guard (0..<3).allSatisfy({ edgeLengths.contains(size[$0]) }) else {
      throw DesignError(
        "a box of \(millimetres(size)) cannot be computed; its edges are to be 1 to 500 mm long, given in metres"
      )
    }
  }

  static func check(position: Position, of name: String, size: SIMD3<Double>) throws(DesignError) {
    let nearest = nearestSurfacePoint(to: position, size: size)
    guard (position - nearest).length <= tolerance else {
      throw DesignError(
        "microphone \(name) at \(millimetres(position)) is not on the box of \(millimetres(size)); the nearest point "
          + "of its surface is \(millimetres(nearest))")
    }
  }

  /// A point on an edge counts as on the face whose axis comes first, just inside the edge.
  static func nearestSurfacePoint(to position: Position, size: SIMD3<Double>) -> Position {
    let half = size / 2
    let inside = position.clamped(lowerBound: -half, upperBound: half)
    var axis = 0
    for other in 1..<3 where half[other] - abs(inside[other]) < half[axis] - abs(inside[axis]) {
      axis = other
    }
    var point = inside.clamped(lowerBound: -half * 0.9999, upperBound: half * 0.9999)
    point[axis] = inside[axis] < 0 ? -half[axis] : half[axis]
    return point
  }
}

/// "(72, 147, 8) mm"
func millimetres(_ vector: SIMD3<Double>) -> String {
  let numbers = (0..<3).map { axis -> String in
    let tenths = (vector[axis] * 10_000).rounded() / 10
    return tenths == tenths.rounded() && abs(tenths) < 1e9 ? String(Int(tenths)) : String(tenths)
  }
  return "(\(numbers.joined(separator: ", "))) mm"
}
