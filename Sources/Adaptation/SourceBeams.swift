import Glibc
import Realtime

/// Beams towards one or two sources of a bin, and how far each of them is above diffuse sound there.
///
/// Of sound with the covariance C, among diffuse sound with the covariance G, the beams towards the directions A are
/// V = G⁻¹A (Λ + AᴴG⁻¹A)⁻¹. Without Λ each passes its own source and shuts out the other. Λ grows as a source sinks into
/// diffuse sound: its beam passes less then, and the other's shuts it out less.
///
/// - Thread: one at a time. It allocates nothing after its start.
final class SourceBeams {
  /// The largest part of a beam's power that is believed.
  private static let mostTrust: Float = 0.98
  /// What one source leaks into the other's beam, because the model of the array is not exact, relative to its power, as if
  /// it were diffuse sound.
  private static let leak: Float = 0.05
  /// Of a source to diffuse sound: one without any, as a tone may be, has no larger ratio, and squares stay finite.
  private static let mostRatio: Float = 1e6
  /// Two directions whose responses are more alike than this are one: |aᴴG⁻¹b|² / (aᴴG⁻¹a · bᴴG⁻¹b).
  private static let mostAlike: Float = 0.95

  private let finder: DirectionFinder
  private let microphones: Int
  /// Traces of G⁻¹C, `[bin]`.
  private var traces: [Float]
  /// The finder's covariances `[bin][column]`.
  private let covariances: MicrophoneVectors
  /// G⁻¹a, and C times it, of one or two sources.
  private let whitened: MicrophoneVectors
  private let heard: MicrophoneVectors
  /// What `solve` writes.
  private(set) var beams = (MicrophoneVector.zero, MicrophoneVector.zero)

  init(_ finder: DirectionFinder) {
    self.finder = finder
    microphones = finder.array.microphones
    traces = [Float](repeating: 0, count: finder.array.grid.bins.count)
    covariances = MicrophoneVectors(count: traces.count * microphones)
    whitened = MicrophoneVectors(count: 2)
    heard = MicrophoneVectors(count: 2)
  }

  deinit { for vectors in [covariances, whitened, heard] { vectors.free() } }

  /// Takes the finder's covariances as they are now, and computes traces.
  func update() {
    for bin in traces.indices {
      let c = finder.covariance.floats + bin * microphones * microphones
      let first = bin * microphones
      for i in 0..<microphones {
        covariances[first + i, i] = (c[i * microphones + i], 0)
        for j in i + 1..<max(microphones, i + 1) {
          let (re, im) = (c[i * microphones + j], c[j * microphones + i])
          covariances[first + j, i] = (re, im)
          covariances[first + i, j] = (re, -im)
        }
      }
      var trace: Float = 1e-20
      // Σ G_ij C_ji
      for column in first..<first + microphones {
        trace += finder.array.inverse[column].dot(covariances[column]).re
      }
      traces[bin] = trace
    }
  }

  /// The part of a bin's power, 0…1, that a source in a fine direction explains.
  func explained(by direction: Int, bin: Int) -> Float {
    let gain = whiten(direction, bin: bin, source: 0)
    return min(1, product(0, 0).re / gain / traces[bin])
  }

  /// Writes `beams`.
  /// - Parameters:
  ///   - first: a fine direction.
  ///   - second: another, if there is one.
  /// - Returns: how many beams there are, and the highest ratio of a source to diffuse sound, and what leaks, in its beam.
  func solve(bin: Int, first: Int, second: Int?) -> (count: Int, ratio: Float) {
    let g1 = whiten(first, bin: bin, source: 0)
    let s11 = product(0, 0).re
    if microphones > 2, let second {
      let g2 = whiten(second, bin: bin, source: 1)
      let q = response(to: second, bin: bin)
      let alike = q.re * q.re + q.im * q.im
      if alike < Self.mostAlike * g1 * g2 {
        let s22 = product(1, 1).re
        let s12 = product(0, 1)
        return (2, solvePair(g1, g2, q, s11, s22, q.re * s12.re + q.im * s12.im, trace: traces[bin]))
      }
    }
    let diffuse = max((traces[bin] - s11 / g1) / Float(microphones - 1), traces[bin] / Self.mostRatio)
    let ratio = min(max(s11 / g1 / diffuse - 1, 0), Self.mostRatio)
    let scale = 1 / (g1 * (1 + Self.loading(ratio)))
    beams.0 = scale * whitened[0]
    return (1, ratio)
  }

  /// Λ of a source, relative to its aᴴG⁻¹a.
  private static func loading(_ ratio: Float) -> Float {
    // Sharper than a Wiener gain: what a model's small errors leave beside the beam is taken for diffuse sound.
    max(1 / max(ratio * ratio, 1e-12), 1 / mostTrust - 1)
  }

  /// Writes both beams, from Q = AᴴG⁻¹A (its diagonal and Q₁₂) and S = AᴴG⁻¹C G⁻¹A (its diagonal and Re Q̄₁₂S₁₂).
  /// - Returns: the higher ratio.
  private func solvePair(
    _ g1: Float, _ g2: Float, _ q: (re: Float, im: Float), _ s11: Float, _ s22: Float, _ x: Float,
    trace: Float
  ) -> Float {
    let alike = q.re * q.re + q.im * q.im
    let determinant = g1 * g2 - alike
    // What both explain is the trace of Q⁻¹S.
    let rest = trace - (g2 * s11 + g1 * s22 - 2 * x) / determinant
    let diffuse = max(rest / Float(microphones - 2), trace / Self.mostRatio)
    // The diagonals of Q⁻¹SQ⁻¹ and Q⁻¹: the power of each beam without Λ, and its gain for diffuse sound.
    let scale = 1 / (determinant * determinant)
    let (d1, d2) = (g2 / determinant, g1 / determinant)
    let p1 = max((g2 * g2 * s11 + alike * s22 - 2 * g2 * x) * scale - diffuse * d1, 0)
    let p2 = max((alike * s11 + g1 * g1 * s22 - 2 * g1 * x) * scale - diffuse * d2, 0)
    let ratios = (
      min(p1 / ((diffuse + Self.leak * p2) * d1), Self.mostRatio),
      min(p2 / ((diffuse + Self.leak * p1) * d2), Self.mostRatio)
    )
    let (k1, k2) = (g1 * (1 + Self.loading(ratios.0)), g2 * (1 + Self.loading(ratios.1)))
    let one = 1 / (k1 * k2 - alike)
    let (b1, b2) = (whitened[0], whitened[1])
    beams.0 = MicrophoneVector(
      re: one * (k2 * b1.re - q.re * b2.re - q.im * b2.im),
      im: one * (k2 * b1.im - q.re * b2.im + q.im * b2.re))
    beams.1 = MicrophoneVector(
      re: one * (k1 * b2.re - q.re * b1.re + q.im * b1.im),
      im: one * (k1 * b2.im - q.re * b1.im - q.im * b1.re))
    return max(ratios.0, ratios.1)
  }

  /// Writes G⁻¹a of a source, and what it hears.
  /// - Returns: aᴴG⁻¹a
  private func whiten(_ direction: Int, bin: Int, source: Int) -> Float {
    let (a, first) = (finder.array.response(bin: bin, direction), bin * microphones)
    let b = finder.array.inverse.times(first, microphones) { (a[2 * $0], a[2 * $0 + 1]) }
    whitened[source] = b
    heard[source] = covariances.times(first, microphones) { whitened[source, $0] }
    return b.dot(MicrophoneVector(inTurn: a)).re
  }

  /// bᴴa of the first source's G⁻¹a and another direction's response.
  private func response(to direction: Int, bin: Int) -> (re: Float, im: Float) {
    whitened[0].dot(MicrophoneVector(inTurn: finder.array.response(bin: bin, direction)))
  }

  /// bᴴCc of two sources' G⁻¹a.
  private func product(_ first: Int, _ second: Int) -> (re: Float, im: Float) {
    whitened[first].dot(heard[second])
  }
}
