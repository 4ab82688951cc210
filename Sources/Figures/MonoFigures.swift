import Acoustics
import Foundation

/// How directional one mono pattern is, in octaves.
public struct MonoFigures: Sendable {
  public static let octaves = OctaveFigure.centres.map { Hertz(Double($0)) }

  /// On-axis energy over the mean of all directions, per octave.
  public let directivityIndex: [Decibels]
  /// Energy of the 30° cone in front over that behind, per octave.
  public let frontBack: [Decibels]
  /// Mean (|P| − |T|)² over mean T² of all directions, per octave.
  public let patternError: [Decibels]
  /// On-axis level at each of the octaves.
  public let onAxis: [Decibels]
  /// On-axis energy over the noise of equal, independent microphones: white-noise gain per octave.
  public let whiteNoiseGain: [Decibels]
  /// What the ideal pattern has of front/back.
  let wantedFrontBack: Decibels
  /// How many of the octaves fit below half the sample rate.
  private let octaveCount: Int

  /// - Parameters:
  ///   - coefficients: a mono case of `bank`.
  ///   - device: whose filters they are.
  public init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard case .pattern(let forward, let part) = device.view(of: coefficients.filterCase) else {
      throw DesignError("\(coefficients.filterCase) is not a mono case of \(device.name)")
    }
    try self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), forward: forward, omnidirectionalPart: part)
  }

  package init(
    taps: [[[Float]]], sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, forward: Direction,
    omnidirectionalPart: Double
  ) throws(DesignError) {
    let view = CaseView.pattern(forward: forward, omnidirectionalPart: omnidirectionalPart)
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    let reader = try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: nil)
    guard case .mono(let figures) = try reader.read()[0] else { preconditionFailure("a mono view is mono") }
    self = figures
  }

  /// - Parameter frequencies: of the reading, in hertz.
  init(_ reading: PatternReading, frequencies: [Double]) {
    /// Mean over a band of ±1.3 around each centre of a ratio in decibels.
    func octaves(_ energy: [Double], over reference: [Double]? = nil) -> [Decibels] {
      Self.octaves.map { centre in
        let bins = frequencies.indices.filter {
          frequencies[$0] >= centre.value / 1.3 && frequencies[$0] <= centre.value * 1.3
        }
        return Decibels(
          mean(
            bins.map { bin -> Double in
              let divisor = reference.map { $0[bin] + 1e-12 } ?? 1
              return 10 * log10((energy[bin] + 1e-12) / divisor)
            }))
      }
    }
    octaveCount = Self.octaves.count { $0.value * 1.3 <= frequencies.last ?? 0 }
    directivityIndex = octaves(reading.axis, over: reading.sphere)
    frontBack = octaves(reading.front, over: reading.rear)
    patternError = octaves(reading.error)
    onAxis = octaves(reading.axis)
    whiteNoiseGain = octaves(reading.axis, over: reading.noise)
    wantedFrontBack = reading.targetFrontBack
  }

  /// Front/back, octaves weighted by speech.
  var speechFrontBack: Decibels {
    var (sum, weights) = (0.0, 0.0)
    for (centre, level) in zip(Self.octaves, frontBack).prefix(octaveCount) {
      let weight = BinauralLevels.speechOctaves.first { $0.centre == centre.value }?.weight ?? 0
      sum += weight * level.value
      weights += weight
    }
    return Decibels(sum / max(weights, 1e-9))
  }

  var table: Figures {
    var table = Figures()
    for (figure, levels) in [
      (.directivityIndex, directivityIndex), (.frontBackOctaves, frontBack), (.patternError, patternError),
      (.onAxis, onAxis), (.whiteNoiseGain, whiteNoiseGain),
    ] as [(OctaveFigure, [Decibels])] {
      table.set(
        figure,
        Dictionary(
          uniqueKeysWithValues: zip(OctaveFigure.centres, levels.map(\.value)).prefix(octaveCount)))
    }
    return table
  }
}
