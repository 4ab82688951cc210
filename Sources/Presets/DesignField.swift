import Acoustics
import Text

/// A parameter of `DesignParameters` as it appears in files that override it: its name, its unit and its allowed values.
package struct DesignField: Sendable {
  /// Group and key: "stereo.rearGain".
  package let name: String
  /// The allowed range, in the unit of files.
  package let range: ClosedRange<Double>
  /// "Hz"; empty for plain numbers.
  package let unit: String
  /// For integers, the number that the value must be a multiple of; nil for other values.
  package let multiple: Int?
  private let read: @Sendable (DesignParameters) -> Double
  private let write: @Sendable (inout DesignParameters, Double) -> Void

  package var group: String { String(name.prefix { $0 != "." }) }
  package var key: String { String(name.drop { $0 != "." }.dropFirst()) }

  /// The value in `parameters`, in the unit of files.
  package func value(in parameters: DesignParameters) -> Double { read(parameters) }

  /// Stores `value` in `parameters`.
  /// - Parameter value: an allowed value, in the unit of files.
  package func set(_ value: Double, in parameters: inout DesignParameters) { write(&parameters, value) }

  /// Whether `value`, in the unit of files, may be set.
  package func allows(_ value: Double) -> Bool {
    range.contains(value) && (multiple.map { value.remainder(dividingBy: Double($0)) == 0 } ?? true)
  }

  /// The allowed values, for messages: "a multiple of 8 from 128 to 1024", "200 to 8000 Hz".
  package var allowed: String {
    let bounds = "\(range.lowerBound.plain) to \(range.upperBound.plain)" + (unit.isEmpty ? "" : " \(unit)")
    guard let multiple else { return bounds }
    return multiple == 1 ? "a whole number from \(bounds)" : "a multiple of \(multiple) from \(bounds)"
  }

  /// The first field whose value is not allowed, with that value in the unit of files; nil if all are allowed.
  package static func outOfRange(in parameters: DesignParameters) -> (field: DesignField, value: Double)? {
    all.lazy.map { ($0, $0.value(in: parameters)) }.first { !$0.0.allows($0.1) }
  }
}

extension DesignField {
  private typealias Path<Value> = any WritableKeyPath<DesignParameters, Value> & Sendable

  /// - Parameters:
  ///   - toFile: turns the value in `DesignParameters` into a number in the unit of files.
  ///   - fromFile: the reverse.
  private init<Value>(
    _ name: String, _ path: Path<Value>, _ range: ClosedRange<Double>, unit: String = "",
    multiple: Int? = nil,
    toFile: @escaping @Sendable (Value) -> Double, fromFile: @escaping @Sendable (Double) -> Value
  ) {
    (self.name, self.range, self.unit, self.multiple) = (name, range, unit, multiple)
    read = { toFile($0[keyPath: path]) }
    write = { $0[keyPath: path] = fromFile($1) }
  }

  private static func number(_ name: String, _ path: Path<Double>, _ range: ClosedRange<Double>) -> Self {
    Self(name, path, range, toFile: { $0 }, fromFile: { $0 })
  }

  private static func count(
    _ name: String, _ path: Path<Int>, _ range: ClosedRange<Double>, multipleOf multiple: Int = 1
  ) -> Self {
    Self(name, path, range, multiple: multiple, toFile: { Double($0) }, fromFile: { Int($0) })
  }

  private static func level(_ name: String, _ path: Path<Decibels>, _ range: ClosedRange<Double>) -> Self {
    Self(name, path, range, unit: "dB", toFile: { $0.value }, fromFile: { Decibels($0) })
  }

  private static func frequency(_ name: String, _ path: Path<Hertz>, _ range: ClosedRange<Double>) -> Self {
    Self(name, path, range, unit: "Hz", toFile: { $0.value }, fromFile: { Hertz($0) })
  }

  /// In metres in `DesignParameters`, in millimetres in files.
  private static func length(_ name: String, _ path: Path<Double>, _ range: ClosedRange<Double>) -> Self {
    Self(name, path, range, unit: "mm", toFile: { $0 * 1000 }, fromFile: { $0 / 1000 })
  }

  private static func angle(_ name: String, _ path: Path<Angle>, _ range: ClosedRange<Double>) -> Self {
    Self(name, path, range, unit: "degrees", toFile: { $0.degrees }, fromFile: { .degrees($0) })
  }

  /// All fields, in the order of `DesignParameters.values`. Any combination of allowed values can be designed.
  package static let all: [DesignField] =
    grid + box + measured + head + stereo + joint + mono + truncation

  private static let grid: [DesignField] = [
    count("grid.transformLength", \.grid.transformLength, 1024...4096, multipleOf: 2),
    count("grid.tapCount", \.grid.tapCount, 128...1024, multipleOf: 8),
    count("grid.delay", \.grid.delay, 8...112),
    frequency("grid.highestFrequency", \.grid.highestFrequency, 4000...24_000),
    number("grid.fadeOut", \.grid.fadeOut, 0...0.5),
    number("grid.fadeIn", \.grid.fadeIn, 0...1),
  ]

  private static let box: [DesignField] = [
    length("box.panelWidth", \.box.panelWidth, 1...50),
    count("box.maximumPanelCount", \.box.maximumPanelCount, 50...1600),
    number("box.edgeGrading", \.box.edgeGrading, 0...0.9),
    count("box.interiorPoints", \.box.interiorPoints, 1...100),
    number("box.resonanceMargin", \.box.resonanceMargin, 0...1),
    frequency("box.highestFrequency", \.box.highestFrequency, 8000...24_000),
    count("box.frequencyCount", \.box.frequencyCount, 16...256, multipleOf: 2),
  ]

  private static let measured: [DesignField] = [
    count("measured.highestOrder", \.measured.highestOrder, 1...30),
    number("measured.harmonicsPerDirection", \.measured.harmonicsPerDirection, 0.2...1),
    number("measured.roughness", \.measured.roughness, 1e-9...0.01),
    number("measured.roughnessOfMean", \.measured.roughnessOfMean, 0.001...10),
    frequency("measured.lowestFrequency", \.measured.lowestFrequency, 20...1000),
    number("measured.nyquistFraction", \.measured.nyquistFraction, 0.5...1),
  ]

  private static let head: [DesignField] = [
    count("head.order", \.head.order, 1...30),
    number("head.roughness", \.head.roughness, 1e-12...0.01),
    number("head.roughnessOfMean", \.head.roughnessOfMean, 1e-6...1000),
    number("head.nyquistFraction", \.head.nyquistFraction, 0.5...1),
    length("head.earDistance", \.head.earDistance, 0...200),
    frequency("head.lowestMeasured", \.head.lowestMeasured, 20...1000),
    frequency("head.phaseReference", \.head.phaseReference, 100...1000),
    frequency("head.equalisationStep", \.head.equalisationStep, 20...200),
    frequency("head.highestEqualised", \.head.highestEqualised, 1000...24_000),
    number("head.smoothing", \.head.smoothing, 0.05...2),
  ]

  private static let stereo: [DesignField] = [
    count("stereo.directions", \.stereo.directions, 200...5000),
    level("stereo.rearGain", \.stereo.rearGain, -40...0),
    number("stereo.frontWeight", \.stereo.frontWeight, 0.1...100),
    angle("stereo.frontAngle", \.stereo.frontAngle, 1...180),
    number("stereo.toneCorrection", \.stereo.toneCorrection, 0...1),
    level("stereo.noiseGainLimit", \.stereo.noiseGainLimit, 0...40),
    level("stereo.finishedNoiseGain", \.stereo.finishedNoiseGain, 0...40),
    frequency("stereo.lowestNoise", \.stereo.lowestNoise, 0...1000),
    frequency("stereo.highestNoise", \.stereo.highestNoise, 1000...24_000),
    count("stereo.tightenings", \.stereo.tightenings, 0...20),
    level("stereo.tighteningMargin", \.stereo.tighteningMargin, 0...3),
    count("stereo.tighteningReach", \.stereo.tighteningReach, 0...50),
    level("stereo.minimumNoiseGainLimit", \.stereo.minimumNoiseGainLimit, -10...40),
    number("stereo.minimumRegulariser", \.stereo.minimumRegulariser, 1e-9...1),
    number("stereo.scalingLimit", \.stereo.scalingLimit, 1...100),
    angle("stereo.minimumAngle", \.stereo.minimumAngle, 0...90),
  ]

  private static let joint: [DesignField] = [
    count("joint.horizonSectors", \.joint.horizonSectors, 4...180),
    number("joint.horizonWeight", \.joint.horizonWeight, 0.1...1000),
    count("joint.raisedSectors", \.joint.raisedSectors, 1...36),
    angle("joint.elevation", \.joint.elevation, 10...80),
    number("joint.raisedWeight", \.joint.raisedWeight, 0...100),
    number("joint.rearWeight", \.joint.rearWeight, 0...100),
    number("joint.frontWeight", \.joint.frontWeight, 0...100),
    number("joint.highSideWeight", \.joint.highSideWeight, 0...100),
    number("joint.concentration", \.joint.concentration, 1...1000),
    number("joint.raisedConcentration", \.joint.raisedConcentration, 1...1000),
    number("joint.diffuseWeight", \.joint.diffuseWeight, 0...100),
    number("joint.floor", \.joint.floor, 1e-5...1),
    number("joint.levelWeight", \.joint.levelWeight, 0...100),
    number("joint.differenceWeight", \.joint.differenceWeight, 0...100),
    number("joint.frontBackWeight", \.joint.frontBackWeight, 0...100),
    number("joint.crossWeight", \.joint.crossWeight, 0...100),
    frequency("joint.crossCorner", \.joint.crossCorner, 200...8000),
    number("joint.crossDecay", \.joint.crossDecay, 0...10),
    number("joint.highCrossWeight", \.joint.highCrossWeight, 0...100),
    number("joint.leastSquaresWeight", \.joint.leastSquaresWeight, 0...100),
    number("joint.smoothness", \.joint.smoothness, 0...100),
    number("joint.robustness", \.joint.robustness, 0...100),
    number("joint.noiseWeight", \.joint.noiseWeight, 0...1000),
    count("joint.iterations", \.joint.iterations, 1...500),
  ]

  private static let mono: [DesignField] = [
    count("mono.directions", \.mono.directions, 200...5000),
    number("mono.crossoverSize", \.mono.crossoverSize, 0.1...10),
    frequency("mono.highestCrossover", \.mono.highestCrossover, 200...20_000),
    level("mono.whiteNoiseGainFloor", \.mono.whiteNoiseGainFloor, -40...0),
    number("mono.minimumOnAxis", \.mono.minimumOnAxis, 0.01...1),
    number("mono.minimumCorrelation", \.mono.minimumCorrelation, 1e-9...0.01),
    number("mono.omnidirectionalStep", \.mono.omnidirectionalStep, 0.001...0.5),
    number("mono.minimumOmnidirectionalPart", \.mono.minimumOmnidirectionalPart, 0...1),
    count("mono.magnitudePasses", \.mono.magnitudePasses, 1...200),
    count("mono.firstMagnitudePasses", \.mono.firstMagnitudePasses, 1...1000),
    count("mono.startComparisonStride", \.mono.startComparisonStride, 1...100),
    frequency("mono.highestStartComparison", \.mono.highestStartComparison, 1000...24_000),
    level("mono.minimumStartImprovement", \.mono.minimumStartImprovement, 0...20),
    number("mono.startTieMargin", \.mono.startTieMargin, 0...1),
    number("mono.minimumRegulariser", \.mono.minimumRegulariser, 1e-12...0.1),
    number("mono.minimumMagnitudeRegulariser", \.mono.minimumMagnitudeRegulariser, 1e-12...0.1),
    level("mono.minimumFrontBack", \.mono.minimumFrontBack, 0...20),
  ]

  private static let truncation: [DesignField] = [
    frequency("truncation.highestCosine", \.truncation.highestCosine, 500...12_000),
    frequency("truncation.highestFrequency", \.truncation.highestFrequency, 500...20_000),
    frequency("truncation.lowestFrequency", \.truncation.lowestFrequency, 20...1000),
    frequency("truncation.lowestFrequencyAtMost", \.truncation.lowestFrequencyAtMost, 20...2000),
    level("truncation.directivityLoss", \.truncation.directivityLoss, 0...10),
    number("truncation.weightBelowPattern", \.truncation.weightBelowPattern, 1e-9...1),
    count("truncation.passes", \.truncation.passes, 1...100),
    level("truncation.lowNoiseGain", \.truncation.lowNoiseGain, 0...40),
    count("truncation.noiseRounds", \.truncation.noiseRounds, 1...50),
    number("truncation.regulariserGrowth", \.truncation.regulariserGrowth, 1...100),
    number("truncation.diagonalLoading", \.truncation.diagonalLoading, 1e-12...0.001),
  ]
}

extension YAMLReader {
  /// Reads the parameters that override the defaults of `body`, by group and key: `{stereo: {rearGain: -6}}`.
  package func design(of body: Body) throws(DescriptionError) -> DesignParameters {
    var parameters = DesignParameters(body: body)
    var groups: [String] = []
    for field in DesignField.all where groups.last != field.group { groups.append(field.group) }
    let values = try fields(groups)
    for name in groups {
      guard let group = values.optional(name) else { continue }
      let members = DesignField.all.filter { $0.group == name }
      let fields = try group.fields(members.map(\.key))
      for field in members {
        guard let reader = fields.optional(field.key) else { continue }
        let value = try reader.number(in: field.range, unit: field.unit)
        guard field.allows(value) else {
          throw reader.failure("is \(value.plain); write \(field.allowed)")
        }
        field.set(value, in: &parameters)
      }
    }
    return parameters
  }
}
