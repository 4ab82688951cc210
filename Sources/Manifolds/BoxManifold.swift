import Acoustics
import CLapack
import Glibc
import Numerics
import Synchronization

/// Array manifold of microphones on the surface of a rigid box centred at the origin, by the boundary element method.
///
/// The box is solved at evenly spaced frequencies (by default 375 Hz apart up to 24 kHz, closer for large boxes). For
/// each requested direction the incident wave is summed over the mesh, so there is no interpolation over directions.
/// Between the solved frequencies the spectra are interpolated through their finite impulse responses, after the
/// free-field lead of each microphone has been removed. Above the highest solved frequency only that lead changes with
/// frequency. Large boxes have wider panels and are solved up to the frequency that these carry, and a little further.
package struct BoxManifold: ArrayManifold {
  /// Parameters of the reference manifolds that verify designs: panels of 3 mm.
  package static let reference = DesignParameters.Box(panelWidth: 0.003)

  /// Edge lengths in metres.
  package let size: SIMD3<Double>
  /// The requested positions, moved to the surface, in metres.
  package let positions: [Position]

  /// Up to the highest frequency that the mesh carries.
  package let band: ClosedRange<Double>
  package var sharesMirrorImages: Bool { true }

  private let points: BoxPoints
  /// The microphones that hear each parity sector.
  private let hearing: [[Int]]
  /// Weights for each solved frequency as real matrices, one per sector: rows (real, imaginary) for each microphone that
  /// hears it, a column per point.
  private let weights: [[Double]]
  private let interpolation: SpectrumInterpolation
  private let memory = MatrixMemory()

  /// Solves the box on all cores.
  /// - Parameters:
  ///   - positions: in metres, at most `Device.surfaceTolerance` from the surface; they are moved to the nearest surface point.
  ///   - size: edge lengths in metres.
  ///   - parameters: of the mesh and of the solution.
  ///   - solutions: where the box may have been stored when it was solved before, and is stored otherwise.
  ///   - step: reports progress and cancels; nothing is reported of a stored box.
  /// - Throws: `DesignError` if the size or a position is invalid, or the system cannot be solved.
  package init(
    positions: [Position], size: SIMD3<Double>, parameters: DesignParameters.Box = .init(),
    solutions: BoxSolutions? = nil, step: DesignStep = .unobserved
  ) throws(DesignError) {
    let box = RigidBox(size: size)
    if let fault = box.fault { throw DesignError("a box of \(millimetres(size)) \(fault)") }
    for (i, position) in positions.enumerated() {
      if let fault = box.fault(at: position, .upright) { throw DesignError("microphone \(i + 1) \(fault)") }
    }
    let surface = positions.map { Self.nearestSurfacePoint(to: $0, size: size) }
    self.size = size
    self.positions = surface
    let mesh = BoxMesh(size: size, parameters: parameters)
    band = 0...mesh.highestFrequency
    // The impulse responses must be long enough for sound to travel around the box several times.
    let mostFrequencies = parameters.frequencyCount * Int((size.length / 0.35).rounded(.up))
    let width = parameters.highestFrequency.value / Double(mostFrequencies)
    // The last solved frequencies suffer from the end of the spectrum.
    let count = min(mostFrequencies, 2 * Int((1.25 * mesh.highestFrequency / width / 2).rounded(.up)))
    interpolation = SpectrumInterpolation(count: count, width: width)
    points = BoxPoints(BoundaryElements.points(of: mesh))
    hearing = (0..<Parity.count).map { Parity.hearing($0, surface) }
    let key = BoxSolutions.key(positions: positions, size: size, parameters: parameters)
    if let stored = solutions?.weights(key: key),
      Self.areWeights(stored, count: count, hearing: hearing, mesh: mesh)
    {
      weights = stored
      return
    }
    let solver = try BoundaryElements(
      mesh: mesh, microphones: surface, resonanceMargin: parameters.resonanceMargin, spacing: width,
      step: step.within(0...0.05))
    let results = Mutex([[Double]?](repeating: nil, count: count))
    // What threads that have solved some frequencies leave to the next.
    let memories = Mutex([[Complex]]())
    let firsts = Array(stride(from: 0, to: count, by: solver.together))
    let steps = step.within(0.05...1).divided(by: firsts.map { _ in 1 })
    try DesignThreads.forEach(firsts.count) { [hearing] i throws(DesignError) in
      let some = firsts[i]..<min(firsts[i] + solver.together, count)
      var memory = memories.withLock { $0.popLast() ?? [] }
      let weights = try solver.weights(
        frequencies: some.map { Double($0 + 1) * width }, memory: &memory, step: steps[i]
      ).map { $0.map { Self.realRows($0, hearing: hearing) } }
      memories.withLock { [memory] in $0.append(memory) }
      results.withLock { results in
        for (number, weights) in zip(some, weights) { results[number] = weights }
      }
      try steps[i].reached(1)
    }
    let rows = results.withLock { $0.compactMap { $0 } }
    guard rows.count == count else {
      throw DesignError(
        "the sound field around a box of \(millimetres(size)) cannot be computed; check the size of the box")
    }
    weights = rows
    solutions?.store(rows, key: key)
  }

  /// Whether stored rows have the shape of `weights` and are finite: files are not trusted.
  private static func areWeights(
    _ rows: [[Double]], count: Int, hearing: [[Int]], mesh: BoxMesh
  ) -> Bool {
    let lengths = [mesh.panels.count, mesh.panels.count + mesh.interior.count].map {
      2 * hearing.joined().count * $0
    }
    return rows.count == count && rows.allSatisfy { lengths.contains($0.count) && $0.allSatisfy(\.isFinite) }
  }

  package var remarks: [String] {
    band.upperBound < 19_000
      ? [
        String(
          format:
            "modelled up to %.1f kHz, which is what its panels carry: above it, filters roll off",
          band.upperBound / 1000)
      ] : []
  }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    try! responses(from: directions, frequencies: frequencies, step: .unobserved)
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    let matrix = interpolationMatrix(frequencies)
    let octants = BoxOctants(directions)
    if let images = octants.blocks.first, octants.blocks.count == 1,
      images.joined().map(\.direction) == Array(directions.indices)
    {
      try step.check()
      return responses(from: directions, of: images, frequencies: frequencies, matrix: matrix)
    }
    return try ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count
    ) { values throws(DesignError) in
      var done = 0
      for images in octants.blocks {
        try step.reached(Double(done) / Double(directions.count))
        let indices = images.flatMap { $0.map(\.direction) }
        responses(
          from: indices.map { directions[$0] }, of: images, frequencies: frequencies, matrix: matrix
        ).write(to: values, directions: indices, of: directions.count)
        done += indices.count
      }
    }
  }

  /// Interpolates to `frequencies`; that of the last ones is kept.
  private func interpolationMatrix(_ frequencies: [Double]) -> [Double] {
    memory.last.withLock { last in
      if let last, last.frequencies == frequencies { return last.matrix }
      let matrix = interpolation.matrix(frequencies: frequencies)
      last = (frequencies, matrix)
      return matrix
    }
  }

  /// - Parameters:
  ///   - images: the directions by their mirror images, in the same order.
  ///   - matrix: interpolates to `frequencies`.
  private func responses(
    from directions: [SIMD3<Double>], of images: [[BoxOctants.Image]], frequencies: [Double],
    matrix: [Double]
  ) -> ResponseGrid {
    let solved = solvedResponses(from: directions, of: images)
    let (columns, inner) = (positions.count * directions.count, 2 * (interpolation.count + 1))
    var product = [Double](repeating: 0, count: 2 * min(Self.block, frequencies.count) * columns)
    var leads = Phasors(
      delays: positions.flatMap { position in directions.map { $0.dot(position) / speedOfSound } })
    return ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count
    ) { values in
      for first in stride(from: 0, to: frequencies.count, by: Self.block) {
        let count = min(Self.block, frequencies.count - first)
        matrix.withUnsafeBufferPointer {
          multiply(
            $0.baseAddress! + 2 * first * inner, solved, rows: 2 * count, inner: inner, columns: columns,
            into: &product)
        }
        product.withUnsafeBufferPointer { product in
          for f in 0..<count {
            leads.advance(to: frequencies[first + f])
            leads.values.withUnsafeBufferPointer { leads in
              let (real, row) = (product.baseAddress! + 2 * f * columns, values + (first + f) * columns)
              for i in 0..<columns { row[i] = Complex(real[i], real[columns + i]) * leads[i] }
            }
          }
        }
      }
    }
  }

  /// Frequencies at a time: few enough for the processor's cache.
  private static let block = 32

  /// Responses at 0 Hz and the solved frequencies, relative to the free field at each microphone. Real parts come
  /// first, then imaginary parts: shape `[2 × frequency][microphone][direction]`.
  ///
  /// Waves from mirror images differ only in the signs of their parity components: one sum per sector serves all.
  private func solvedResponses(
    from directions: [SIMD3<Double>], of images: [[BoxOctants.Image]]
  ) -> [Double] {
    let count = interpolation.count
    let columns = positions.count * directions.count
    let imaginary = (count + 1) * columns
    var solved = [Double](repeating: 0, count: 2 * imaginary)
    // At 0 Hz the body has no effect.
    for i in 0..<columns { solved[i] = 1 }
    var waves = PlaneWaves(
      points, directions: images.map { $0[0].octant },
      wavenumber: 2 * .pi * interpolation.width / speedOfSound)
    var lags = Phasors(
      delays: positions.flatMap { position in directions.map { -$0.dot(position) / speedOfSound } })
    let (rows, width) = (2 * positions.count, images.count)
    var sums = SectorSums(points: points.count, rows: rows, width: width)
    for (f, weights) in weights.enumerated() {
      waves.advance()
      lags.advance(to: Double(f + 1) * interpolation.width)
      sums.set(weights, waves, hearing: hearing)
      sums.values.withUnsafeBufferPointer { sums in
        var d = 0
        for (octant, images) in images.enumerated() {
          for image in images {
            for m in positions.indices {
              let part = (image.signs * rows + 2 * m) * width + octant
              let sum = Complex(sums[part], sums[part + width])
              let value = Complex(2, 0) + sum * lags.values[m * directions.count + d]
              let at = (f + 1) * columns + m * directions.count + d
              solved[at] = value.real
              solved[imaginary + at] = value.imaginary
            }
            d += 1
          }
        }
      }
    }
    return solved
  }

  /// Converts `[sector][microphone that hears it][point]` to the real matrices of `weights`.
  ///
  /// Each odd axis contributes a factor j to the wave's component in a sector. `PlaneWaves` omits these factors, so they
  /// are applied to the weights here.
  private static func realRows(_ weights: [Complex], hearing: [[Int]]) -> [Double] {
    let points = weights.count / hearing.joined().count
    let powersOfJ = [Complex.one, Complex(0, 1), Complex(-1, 0), Complex(0, -1)]
    var rows: [Double] = []
    rows.reserveCapacity(2 * weights.count)
    var row = 0
    for (sector, microphones) in hearing.enumerated() {
      let factor = powersOfJ[sector.nonzeroBitCount]
      for _ in microphones {
        let own = weights[row..<row + points].map { factor * $0 }
        rows += own.map(\.real)
        rows += own.map(\.imaginary)
        row += points
      }
    }
    return rows
  }

  /// The surface point nearest to `position`. A point on an edge is assigned to the face whose axis comes first, and is
  /// moved just inside that face.
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

/// The sums over a box's points of weights times the waves from some directions of an octant, at one frequency, and memory
/// for them.
private struct SectorSums {
  /// What each image of the waves adds at the microphones: `[image][microphone, (real, imaginary)][octant's direction]`.
  private(set) var values: [Double]
  /// A sector's waves, `[point][direction]`: few enough for the processor's cache.
  private var sector: [Double]
  /// A sector's sums, of the microphones that hear it.
  private var product: [Double]
  private let rows: Int
  private let width: Int

  /// - Parameters:
  ///   - points: the most that are summed over.
  ///   - rows: two per microphone.
  ///   - width: directions of the octant.
  init(points: Int, rows: Int, width: Int) {
    values = [Double](repeating: 0, count: Parity.count * rows * width)
    sector = [Double](repeating: 0, count: points * width)
    product = [Double](repeating: 0, count: rows * width)
    (self.rows, self.width) = (rows, width)
  }

  /// - Parameters:
  ///   - weights: as `BoxManifold` has them for this frequency.
  ///   - hearing: the microphones that hear each sector.
  mutating func set(_ weights: [Double], _ waves: PlaneWaves, hearing: [[Int]]) {
    let points = weights.count / (2 * hearing.joined().count)
    weights.withUnsafeBufferPointer { weights in
      values.withUnsafeMutableBufferPointer { values in
        values.update(repeating: 0)
        var matrix = weights.baseAddress!
        for (number, microphones) in hearing.enumerated() where !microphones.isEmpty {
          sector.withUnsafeMutableBufferPointer {
            waves.write(sector: number, count: points, to: $0.baseAddress!)
          }
          cblas_dgemm(
            CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(2 * microphones.count), Int32(width),
            Int32(points), 1, matrix, Int32(points), sector, Int32(width), 0, &product, Int32(width))
          let plane = values.baseAddress! + number * rows * width
          product.withUnsafeBufferPointer { product in
            for (row, m) in microphones.enumerated() {
              (plane + 2 * m * width).update(
                from: product.baseAddress! + 2 * row * width, count: 2 * width)
            }
          }
          matrix += 2 * microphones.count * points
        }
        // What each image hears, for every direction of the octant.
        values.baseAddress!.withMemoryRebound(to: Complex.self, capacity: values.count / 2) {
          Parity.sectors($0, plane: rows * width / 2)
        }
      }
    }
  }
}

/// The matrix that interpolates to the frequencies that were asked for last.
private final class MatrixMemory: Sendable {
  let last = Mutex<(frequencies: [Double], matrix: [Double])?>(nil)
}

/// Directions by their mirror images in a box's planes of symmetry.
struct BoxOctants {
  struct Image {
    /// Index of the direction.
    let direction: Int
    /// Its mirror image in the octant of positive coordinates.
    let octant: SIMD3<Double>
    /// Bit a is set if the direction is on the other side of axis a.
    let signs: Int
  }

  /// The images of each direction of the octant, in blocks that are small enough for the CPU cache.
  let blocks: [[[Image]]]

  /// Directions of the octant per block.
  private static let size = 64
  /// Directions per block.
  private static let most = 256

  init(_ directions: [SIMD3<Double>]) {
    var (groups, indices) = ([[Image]](), [SIMD3<Int>: Int]())
    for (direction, vector) in directions.enumerated() {
      var (octant, signs) = (vector, 0)
      for axis in 0..<3 where vector[axis] < 0 {
        octant[axis] = -vector[axis]
        signs |= 1 << axis
      }
      let key = SIMD3<Int>((octant * 0x1p40).rounded(.toNearestOrAwayFromZero))
      let image = Image(direction: direction, octant: octant, signs: signs)
      if let group = indices[key] {
        groups[group].append(image)
      } else {
        indices[key] = groups.count
        groups.append([image])
      }
    }
    var (blocks, count) = ([[[Image]]](), 0)
    for group in groups {
      if blocks.isEmpty || blocks[blocks.count - 1].count == Self.size || count + group.count > Self.most {
        blocks.append([])
        count = 0
      }
      blocks[blocks.count - 1].append(group)
      count += group.count
    }
    self.blocks = blocks
  }
}

/// Formats a vector given in metres: "(72, 147, 8) mm".
func millimetres(_ vector: SIMD3<Double>) -> String {
  let numbers = (0..<3).map { axis -> String in
    let tenths = (vector[axis] * 10_000).rounded() / 10
    return tenths == tenths.rounded() && abs(tenths) < 1e9 ? String(Int(tenths)) : String(tenths)
  }
  return "(\(numbers.joined(separator: ", "))) mm"
}
