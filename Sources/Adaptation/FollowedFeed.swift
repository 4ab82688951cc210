import Glibc
import Realtime

/// The filters of one feed that follow the sound, and what they are made of.
///
/// - Thread: one at a time. It allocates nothing after its start.
package final class FollowedFeed: @unchecked Sendable {
  /// The linear filters.
  package private(set) var base: FilterSet
  /// What stereo follows directions with; nil if it does not.
  package private(set) var ears: EarTable?
  /// What wind is taken out with; nil if it is not.
  let wind: WindWeights?
  /// 0…1: the corrections for directions are multiplied by it.
  package var strength = 0.0
  /// 0…1: how much of the wind is taken out.
  package var windStrength = 0.0
  /// By how many decibels the wind in this feed is softer than in its linear filters, relative to its sound.
  private(set) var removed = 0.0
  /// Updates in which nothing was applied. A feed without wind begins with its linear filters.
  var updatesAtRest: Int
  /// Whether the callback was given filters.
  var isDelivered = false
  /// Smoothed corrections `[ear][microphone][bin]`, real and imaginary parts in turn.
  let corrections: AlignedMemory?
  /// `[output][microphone][tap]`, the linear filters included.
  package let filters: AlignedMemory
  /// Differences from the linear filters where there is wind, `[bin][output][microphone]`, as `corrections`.
  let cleaned: AlignedMemory?
  private let bins: Int

  /// - Parameter bins: of the corrections.
  init(_ base: FilterSet, ears: EarTable?, wind: WindWeights?, bins: Int) {
    (self.base, self.ears, self.wind, self.bins) = (base, ears, wind, bins)
    updatesAtRest = ears == nil ? .max / 2 : 0
    corrections = ears.map { AlignedMemory(count: 2 * $0.base.microphones * bins * 2) }
    filters = AlignedMemory(count: base.outputs * base.microphones * base.taps)
    cleaned = wind.map { AlignedMemory(count: $0.values.count) }
  }

  deinit {
    corrections?.free()
    filters.free()
    cleaned?.free()
  }

  /// Corrects other filters of the same kind from now on.
  func use(_ ears: EarTable) {
    (base, self.ears, strength) = (ears.base, ears, 0)
    reset()
  }

  func reset() { corrections?.floats.update(repeating: 0, count: 2 * base.microphones * bins * 2) }

  func fadeCorrections(_ keep: Float) {
    guard let corrections else { return }
    for n in 0..<4 * base.microphones * bins { corrections.floats[n] *= keep }
  }

  /// Writes `cleaned`.
  /// - Parameter lowest: the first bin of `corrections`.
  func clean(_ analysis: WindAnalysis, lowest: Int) {
    guard let wind, let cleaned else { return }
    let (outputs, microphones) = (base.outputs, base.microphones)
    let (size, terms) = (outputs * microphones * 2, microphones * microphones * 2)
    let strength = Float(windStrength)
    var (before, after): (Float, Float) = (1e-30, 1e-30)
    for bin in wind.table.bins {
      let rows = cleaned.floats + bin * size
      for n in 0..<size { rows[n] = wind.values[bin * size + n] }
      if let corrections, bin >= lowest {
        for n in 0..<size / 2 {
          rows[2 * n] += corrections.floats[(n * bins + bin - lowest) * 2]
          rows[2 * n + 1] += corrections.floats[(n * bins + bin - lowest) * 2 + 1]
        }
      }
      let n = analysis.wind.floats + bin * microphones
      var (loud, soft): (Float, Float) = (1e-30, 1e-30)
      wind.kept.withUnsafeBufferPointer { kept in
        for output in 0..<wind.keptOutputs {
          loud += Self.power(rows + output * microphones * 2, kept.baseAddress! + bin * terms, microphones)
        }
      }
      var (noisy, quiet) = (Self.noise(rows, n, outputs, microphones), Float(0))
      for output in 0..<outputs { analysis.clean(rows + output * microphones * 2, bin: bin) }
      quiet = Self.noise(rows, n, outputs, microphones)
      wind.kept.withUnsafeBufferPointer { kept in
        for output in 0..<wind.keptOutputs {
          soft += Self.power(rows + output * microphones * 2, kept.baseAddress! + bin * terms, microphones)
        }
      }
      let gain = min(WindAnalysis.mostGain, (loud / soft).squareRoot())
      // Relative to what the sound has, so that soft and loud bins count alike.
      noisy /= loud
      quiet *= gain * gain / loud
      before += noisy
      after += quiet
      for m in 0..<size {
        let linear = wind.values[bin * size + m]
        var corrected: Float = 0
        if let corrections, bin >= lowest {
          corrected = corrections.floats[(m / 2 * bins + bin - lowest) * 2 + m % 2]
        }
        rows[m] = (1 - strength) * corrected + strength * (gain * rows[m] - linear)
      }
    }
    removed = Double(10 * log10(before / after))
  }

  /// Of one output's sound with a covariance: w R wᴴ.
  private static func power(_ row: UnsafePointer<Float>, _ r: UnsafePointer<Float>, _ count: Int) -> Float {
    var sum: Float = 0
    for i in 0..<count {
      var (re, im): (Float, Float) = (0, 0)
      for j in 0..<count {
        let (a, b) = (r[(i * count + j) * 2], r[(i * count + j) * 2 + 1])
        // R_ij w̄_j
        re += a * row[2 * j] + b * row[2 * j + 1]
        im += b * row[2 * j] - a * row[2 * j + 1]
      }
      sum += row[2 * i] * re - row[2 * i + 1] * im
    }
    return max(sum, 0)
  }

  /// The wind that all outputs have.
  private static func noise(
    _ rows: UnsafePointer<Float>, _ n: UnsafePointer<Float>, _ outputs: Int, _ count: Int
  )
    -> Float
  {
    var sum: Float = 0
    for m in 0..<outputs * count {
      sum += n[m % count] * (rows[2 * m] * rows[2 * m] + rows[2 * m + 1] * rows[2 * m + 1])
    }
    return sum
  }
}
