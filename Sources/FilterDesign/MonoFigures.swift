import Acoustics
import Foundation

/// How directional one mono pattern is, in octaves.
public struct MonoFigures: Sendable {
  public static let octaves = [125.0, 250, 500, 1000, 2000, 4000, 8000, 12_000].map { Hertz($0) }

  /// On-axis energy over the mean of all directions, per octave.
  public let directivityIndex: [Decibels]
  /// Energy of the 30° cone in front over that behind, per octave.
  public let frontBack: [Decibels]
  /// On-axis level at each of the octaves.
  public let onAxis: [Decibels]
  /// On-axis energy over the noise of equal, independent microphones: white-noise gain per octave.
  public let whiteNoiseGain: [Decibels]

  /// - Parameters:
  ///   - coefficients: a mono case of `bank`.
  ///   - device: whose filters they are.
  public init(_ coefficients: FilterCoefficients, bank: FilterBank, device: Device) throws(DesignError) {
    guard let source = device.dataSources.first(where: { $0.name == coefficients.filterCase.dataSource })
    else {
      throw DesignError("\(device.name) has no data source \(coefficients.filterCase.dataSource)")
    }
    self.init(
      taps: coefficients.taps, sampleRate: bank.sampleRate, delayFrames: bank.delayFrames,
      manifold: try manifold(for: device), forward: source.forward.vector)
  }

  package init(
    taps: [[[Float]]], sampleRate: Int, delayFrames: Int, manifold: any ArrayManifold, forward: SIMD3<Double>
  ) {
    let frequencies = DesignGrid(sampleRate: sampleRate).frequencies
    let response = FilterResponse(
      taps: [taps[0]], sampleRate: sampleRate, delayFrames: delayFrames, frequencies: frequencies)
    let sphere = fibonacciSphere(900)
    let pattern = response.outputs(manifold, from: [forward] + sphere)
    let front = sphere.indices.filter { sphere[$0].dot(forward) > cos(.pi / 6) }
    let rear = sphere.indices.filter { sphere[$0].dot(forward) < -cos(.pi / 6) }
    func energy(_ f: Int, _ directions: some Collection<Int>) -> Double {
      directions.reduce(0) { $0 + pattern[f, 0, $1 + 1].squaredMagnitude } / Double(directions.count) + 1e-12
    }
    /// Mean over a band of ±1.3 around each centre of what `figure` gives per frequency.
    func octaves(_ figure: (_ frequency: Int) -> Double) -> [Decibels] {
      Self.octaves.map { centre in
        let bins = frequencies.indices.filter {
          frequencies[$0] >= centre.value / 1.3 && frequencies[$0] <= centre.value * 1.3
        }
        return Decibels(mean(bins.map(figure)))
      }
    }
    let axis = frequencies.indices.map { pattern[$0, 0, 0].squaredMagnitude + 1e-12 }
    directivityIndex = octaves { 10 * log10(axis[$0] / energy($0, sphere.indices)) }
    frontBack = octaves { 10 * log10(energy($0, front) / energy($0, rear)) }
    onAxis = octaves { 10 * log10(axis[$0]) }
    whiteNoiseGain = octaves { f in
      10 * log10(axis[f] / (response.weights[f].reduce(0) { $0 + $1.squaredMagnitude } + 1e-12))
    }
  }
}
