import Glibc
import Manifolds
import Numerics

/// Which microphones are inverted: in pairs that are close compared with the wavelength, sound is nearly in phase.
struct PolarityVote {
  /// The microphones of the smaller camp.
  let inverted: [Int]
  /// Whether both camps are equally large, so that it may as well be the others.
  let isTie: Bool
  /// Whether all pairs agree with the two camps.
  let isClear: Bool
  /// Whether a microphone is so far from all others, or faces so another way, that it is in phase with none of them at any
  /// frequency of the band.
  let isFarApart: Bool

  /// The inverted microphones, if they are certain.
  var certain: [Int]? { isClear && !isTie ? inverted : nil }

  /// - Parameter order: the microphone of `manifold` that each channel carries.
  init(_ spectra: ShortTimeSpectra, manifold: any ArrayManifold, order: [Int]) {
    let bins = Array(spectra.bins(in: Thresholds.polarityBand))
    let diffuse = DiffuseCoherence(manifold, frequencies: bins.map { Double($0) * spectra.binWidth })
    // Those at which the pair is nearly in phase in diffuse sound.
    func near(_ i: Int, _ j: Int) -> [Int] {
      bins.indices.filter { diffuse.value($0, order[i], order[j]).real > Thresholds.polarityCoherence }
    }
    isFarApart = order.indices.contains { i in order.indices.allSatisfy { $0 == i || near(i, $0).isEmpty } }
    // Means of the coherences' real parts.
    let agreement = symmetric(order.count) { i, j in
      let values = near(i, j).compactMap { spectra.realCoherence(i, j, bin: bins[$0]) }
      return values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
    }
    let signs = Self.camps(agreement)
    let negative = signs.indices.filter { signs[$0] < 0 }
    let positive = signs.indices.filter { signs[$0] > 0 }
    inverted = negative.count <= positive.count ? negative : positive
    isTie = negative.count == positive.count
    isClear = Self.isClear(agreement, signs)
  }

  /// A sign for each microphone, so that most pairs agree: those of the leading eigenvector, by power iteration.
  private static func camps(_ weights: [[Double]]) -> [Double] {
    let count = weights.count
    // The shift makes the matrix positive.
    let shift = weights.map { $0.reduce(0) { $0 + abs($1) } }.max() ?? 1
    var random = SplitMix64(state: 7)
    var vector = (0..<count).map { _ in 1 + Double.random(in: -0.3...0.3, using: &random) }
    for _ in 0..<400 {
      var next = vector.map { $0 * (shift + 1e-9) }
      for i in 0..<count { for j in 0..<count { next[i] += weights[i][j] * vector[j] } }
      let length = max(1e-12, next.reduce(0) { $0 + $1 * $1 }.squareRoot())
      vector = next.map { $0 / length }
    }
    return vector.map { $0 < 0 ? -1 : 1 }
  }

  private static func isClear(_ weights: [[Double]], _ signs: [Double]) -> Bool {
    let signed = signs.indices.map { i in signs.indices.map { signs[i] * signs[$0] * weights[i][$0] } }
    let agreeing = signed.joined().reduce(0, +)
    let all = signed.joined().reduce(0) { $0 + abs($1) }
    return all > 0 && agreeing > Thresholds.leastAgreement * all
      && signed.allSatisfy { $0.max()! > Thresholds.leastSupport }
  }
}
