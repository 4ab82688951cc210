import Acoustics
import Glibc
import Measurements
import Numerics
import Synchronization
import Text

/// Array manifold from measured impulse responses.
///
/// Time and level: the delay that all responses share is removed. The responses are scaled to a median energy of 1
/// between 200 and 500 Hz, where bodies have little effect; if the band begins
/// above 200 Hz, from its lower edge to 2.5 times that.
///
/// Place: the origin is that of the measurement, around which its directions lie. Where the microphones were drawn in
/// the device file does not matter; arrival times show it (`MeasurementAlignment`).
///
/// Frequencies: spectra are evaluated by the direct Fourier sum. Below the lowest frequency, where loudspeakers and
/// short responses are unreliable, and below the measurement's band (`MeasuredBand`), the magnitude is constant and the
/// phase is linear. Above the band only the microphones' plane-wave lead changes. The response of the loudspeaker must
/// have been removed from the measurement: it cannot be distinguished from that of the array.
///
/// Directions: the responses are interpolated in spherical harmonics, or in those of a circle if all directions are
/// horizontal (`MeasuredBasis`), after the plane-wave lead has been removed. The
/// fit has a roughness penalty, so gaps (such as the cap below an arc of loudspeakers) are filled smoothly.
/// Interpolation error for a rigid sphere of 87.5 mm radius measured in 440 directions: −65 dB at 4 kHz, −34 dB at 8
/// kHz, −29 dB at 16 kHz. KEMAR's 710 directions leave a cap of 50° open. For a microphone at the bottom or at the
/// side, the error in the cap is −27 dB or better up to 4 kHz. For a microphone at the top, the bright spot lies in the
/// cap and cannot be recovered: the error over the whole sphere is −16 dB at 2 kHz.
/// - Source: alignment after Ben-Hur et al. (2019), as in `HRTF`; the penalty (l(l+1))² is that of smoothing splines,
///   Wahba, Spline interpolation and smoothing on the sphere, SIAM J. Sci. Stat. Comput. 2 (1981).
package struct MeasuredManifold: ArrayManifold {
  package let positions: [Position]
  package let band: ClosedRange<Double>

  private let measured: ImpulseResponses
  /// Measured directions in the device frame.
  private let directions: [SIMD3<Double>]
  /// The frame at which sound passes the origin.
  private let origin: Double
  /// Level and polarity correction.
  private let gain: Double
  private let basis: MeasuredBasis
  private let parameters: DesignParameters.Measured
  /// Matrix from values in the measured directions to coefficients: `[function][direction]`.
  private let analysis: [Double]
  private let cache = CoefficientCache()

  /// - Parameter positions: of the microphones, in the order of the measurement's channels, in metres, relative to any
  ///   origin.
  /// - Throws: `DesignError` if the measurement cannot be read, does not cover the sphere, or does not fit `positions`.
  package init(
    _ measurement: ArrayMeasurement, positions: [Position], parameters: DesignParameters.Measured = .init()
  ) throws(DesignError) {
    switch measurement {
    case .sofa(let path):
      try self.init(SofaFile.read(path: path), positions: positions, parameters: parameters)
    case .impulseResponses(let path, let directions):
      try self.init(
        ImpulseResponses(path: path, directions: directions), positions: positions, parameters: parameters)
    }
  }

  package init(
    _ responses: ImpulseResponses, positions: [Position], parameters: DesignParameters.Measured = .init()
  ) throws(DesignError) {
    guard responses.channels == positions.count else {
      throw DesignError(
        "\(responses.file) contains responses of \(responses.channels) microphones, but the device has "
          + "\(positions.count); list all microphones in the order of the measurement")
    }
    guard responses.count <= mostResponses else {
      throw DesignError(
        "\(responses.file) contains \(responses.count) responses, more than the maximum of \(mostResponses); leave "
          + "directions out")
    }
    if let (direction, channel) = responses.firstSilent {
      throw DesignError(
        "\(responses.file) is silent in direction \(direction), microphone \(channel); measure that direction again "
          + "or remove it")
    }
    let directions = responses.directions.map(Self.device(fromListener:))
    let shares = try measuredShares(directions, file: responses.file)
    let alignment = try MeasurementAlignment(
      responses, directions: directions, shares: shares, positions: positions)
    let positions = alignment.positions
    let reach = (positions.map(\.length).max() ?? 0) / speedOfSound
    let (truncated, first) = responses.truncated(around: alignment.origin, reach: reach)
    measured = truncated
    origin = alignment.origin - Double(first)
    band = try MeasuredBand.band(
      of: truncated, shares: shares, highest: parameters.nyquistFraction * truncated.sampleRate / 2)
    let level = try Self.level(
      of: truncated, shares: shares, from: max(band.lowerBound, parameters.lowestFrequency.value))
    gain = (alignment.isInverted ? -1 : 1) / level
    self.directions = directions
    self.positions = positions
    self.parameters = parameters
    basis = MeasuredBasis(
      directions: directions.count, isCircle: isHorizontal(directions), parameters: parameters)
    analysis = try basis.analysis(
      directions, shares: shares, file: responses.file, parameters: parameters)
  }

  /// RMS level of the median microphone over all directions in the 1.3 octaves from frequency `lowest`, in hertz: a
  /// microphone that is too soft does not change what the others count.
  private static func level(
    of measured: ImpulseResponses, shares: [Double], from lowest: Double
  ) throws(DesignError) -> Double {
    let low = stride(from: 1, through: 2.5, by: 0.25).map { $0 * lowest }
    var energies = [Double](repeating: 0, count: measured.channels)
    for (offset, value) in measured.spectra(origin: 0, frequencies: low).enumerated() {
      let (direction, channel) = (
        offset / low.count / measured.channels, offset / low.count % measured.channels
      )
      energies[channel] += shares[direction] * value.squaredMagnitude
    }
    energies.sort()
    let median = (energies[energies.count / 2] + energies[(energies.count - 1) / 2]) / 2
    let level = (median / Double(low.count)).squareRoot()
    guard level > 1e-9, level.isFinite else {
      throw DesignError(
        "\(measured.file) has no energy between \(Int(low[0])) and \(Int(low.last!)) Hz; measure again with a signal "
          + "that includes this range")
    }
    return level
  }

  package func importance(of directions: [SIMD3<Double>]) -> [Double]? {
    guard case .circle = basis else { return nil }
    return directions.map { Self.unmeasuredImportance + exp(-pow($0.y / Self.measuredHeight, 2)) }
  }

  /// What a direction counts that a horizontal measurement does not include, and the sine of the elevation from which
  /// on it is one.
  private static let unmeasuredImportance = 0.03
  private static let measuredHeight = 0.2

  package var remarks: [String] {
    var remarks = measured.remark.map { [$0] } ?? []
    if band.upperBound < 19_000 {
      remarks.append(
        String(format: "measured up to %.1f kHz: above it, filters roll off", band.upperBound / 1000))
    }
    if case .circle = basis {
      remarks.append("measured in the horizontal plane: what comes from above and below is unknown")
    }
    return remarks
  }

  package func knows(horizonAround up: SIMD3<Double>) -> Bool {
    if case .circle = basis { abs(up.y) > 0.99 } else { true }
  }

  /// Converts SOFA listener coordinates to the device frame. A SOFA listener looks along x, with y to the left and z
  /// up. A device looks along z, with y up and x to its own left (to the right of somebody facing it).
  package static func device(fromListener v: SIMD3<Double>) -> SIMD3<Double> { [v.y, v.z, v.x] }

  package var usesAllCores: Bool { true }

  package func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
    try! responses(from: directions, frequencies: frequencies, step: .unobserved)
  }

  package func responses(
    from directions: [SIMD3<Double>], frequencies: [Double], step: DesignStep
  ) throws(DesignError) -> ResponseGrid {
    let blocks = cache.coefficients(frequencies, coefficients(at:))
    let synthesis = Synthesis(basis, directions)
    let leads = positions.flatMap { position in directions.map { $0.dot(position) / speedOfSound } }
    return try ResponseGrid(
      frequencies: frequencies.count, channels: positions.count, directions: directions.count
    ) { values throws(DesignError) in
      nonisolated(unsafe) let values = values
      try DesignThreads.forEach(blocks.count) { index throws(DesignError) in
        try step.check()
        let block = blocks[index]
        let columns = 2 * positions.count * block.frequencies.count
        let sums = synthesis.sums(block.values, columns: columns)
        var phasors = Phasors(delays: leads)
        sums.withUnsafeBufferPointer { sums in
          for (i, f) in block.frequencies.enumerated() {
            phasors.advance(to: frequencies[f])
            phasors.values.withUnsafeBufferPointer { phasors in
              for m in positions.indices {
                let row = values + (f * positions.count + m) * directions.count
                let lead = phasors.baseAddress! + m * directions.count
                let real = sums.baseAddress! + 2 * (m * block.frequencies.count + i) * synthesis.width
                for (d, place) in synthesis.places.enumerated() {
                  let at = place.image * columns * synthesis.width + place.octant
                  row[d] = Complex(real[at], real[at + synthesis.width]) * lead[d]
                }
              }
            }
          }
        }
      }
    }
  }

  /// Coefficients of the aligned responses.
  private func coefficients(at frequencies: [Double]) -> [CoefficientCache.Block] {
    let width = 32
    let harmonics = basis.count
    let ranges = stride(from: 0, to: frequencies.count, by: width).map {
      $0..<min($0 + width, frequencies.count)
    }
    let found = Mutex([CoefficientCache.Block?](repeating: nil, count: ranges.count))
    DesignThreads.forEach(ranges.count) { index in
      let range = ranges[index]
      let columns = 2 * positions.count * range.count
      let values = product(
        analysis, aligned(Array(frequencies[range])), rows: harmonics, inner: directions.count,
        columns: columns)
      found.withLock { $0[index] = CoefficientCache.Block(frequencies: range, values: values) }
    }
    return found.withLock { $0.map { $0! } }
  }

  /// The measured responses with the plane-wave lead of each microphone removed, extrapolated outside the measured
  /// frequency range: `[direction][microphone][frequency](real, imaginary)`.
  private func aligned(_ frequencies: [Double]) -> [Double] {
    let highest = band.upperBound
    let lowest = max(band.lowerBound, parameters.lowestFrequency.value)
    let clamped = frequencies.map { min(max($0, lowest), highest) }
    let spectra = measured.spectra(origin: origin, frequencies: clamped)
    var values = [Double](repeating: 0, count: 2 * spectra.count)
    for (direction, towards) in directions.enumerated() {
      for (microphone, position) in positions.enumerated() {
        let lead = towards.dot(position) / speedOfSound
        let first = (direction * positions.count + microphone) * clamped.count
        for f in clamped.indices {
          let (cosine, sine) = Turns.cosineAndSine(SIMD2(repeating: -2 * .pi * clamped[f] * lead))
          var value = gain * (spectra[first + f] * Complex(cosine[0], sine[0]))
          if frequencies[f] < lowest {
            // A microphone with inverted polarity has a phase near π, which must stay there down to 0 Hz.
            let sign = value.real < 0 ? -1.0 : 1
            let phase = (sign * value).phase * frequencies[f] / lowest
            value = sign * value.magnitude * Complex(phase: phase)
          }
          values[2 * (first + f)] = value.real
          values[2 * (first + f) + 1] = value.imaginary
        }
      }
    }
    return values
  }
}

/// Sums of a basis's functions in some directions. In mirror images, functions of the same parities differ only in one
/// sign: their sum serves all images.
private struct Synthesis: Sendable {
  /// The functions of each class that are summed together, and their values: `[direction of the octant][function]`.
  private let classes: [(functions: [Int], values: [Double])]
  /// The number of directions in which functions are evaluated: those of the octant, or all if few are mirror images.
  let width: Int
  /// Where the sums of each direction are.
  let places: [(image: Int, octant: Int)]

  init(_ basis: MeasuredBasis, _ directions: [SIMD3<Double>]) {
    let octants = Array(BoxOctants(directions).blocks.joined())
    let isMirrored = 2 * octants.count <= directions.count
    let evaluated = isMirrored ? octants.map { $0[0].octant } : directions
    let values = basis.values(at: evaluated)
    let count = basis.count
    var groups = isMirrored ? [[Int]](repeating: [], count: Parity.count) : [Array(0..<count)]
    var places = directions.indices.map { (image: 0, octant: $0) }
    if isMirrored {
      for (function, parity) in basis.parities.enumerated() { groups[parity].append(function) }
      for (octant, images) in octants.enumerated() {
        for image in images { places[image.direction] = (image.signs, octant) }
      }
    }
    classes = groups.map { functions in
      (functions, evaluated.indices.flatMap { d in functions.map { values[d * count + $0] } })
    }
    width = evaluated.count
    self.places = places
  }

  /// - Parameter coefficients: `[function][column]`.
  /// - Returns: `[image][column][direction of the octant]`
  func sums(_ coefficients: [Double], columns: Int) -> [Double] {
    let plane = columns * width
    return [Double](unsafeUninitializedCapacity: classes.count * plane) { sums, size in
      size = classes.count * plane
      let base = sums.baseAddress!
      for (number, group) in classes.enumerated() {
        guard !group.functions.isEmpty else {
          (base + number * plane).update(repeating: 0, count: plane)
          continue
        }
        let own = group.functions.flatMap { coefficients[$0 * columns..<($0 + 1) * columns] }
        transposedProduct(
          group.values, own, rows: width, inner: group.functions.count, columns: columns,
          into: base + number * plane)
      }
      guard classes.count > 1 else { return }
      base.withMemoryRebound(to: Complex.self, capacity: size / 2) { Parity.sectors($0, plane: plane / 2) }
    }
  }
}

extension ArrayMeasurement: BodyManifold {
  func manifold(for device: Device, step: DesignStep) throws(DesignError) -> any ArrayManifold {
    try manifold(for: device, parameters: device.design.measured)
  }

  func referenceManifold(
    for device: Device, solutions: BoxSolutions?, step: DesignStep
  ) throws(DesignError) -> any ArrayManifold {
    try manifold(for: device, parameters: .init())
  }

  /// The manifold of a measured device, of which some microphones may be missing.
  private func manifold(
    for device: Device, parameters: DesignParameters.Measured
  ) throws(DesignError) -> any ArrayManifold {
    guard let all = device.measuredMicrophones else {
      return try MeasuredManifold(
        self, positions: device.microphones.map(\.position), parameters: parameters)
    }
    let whole = try MeasuredManifold(self, positions: all.map(\.position), parameters: parameters)
    let names = Set(device.microphones.map(\.name))
    return SubsetManifold(whole, subset: all.indices.filter { names.contains(all[$0].name) })
  }
}
