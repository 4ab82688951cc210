import Glibc
import Realtime

/// The filters of one feed that follow the sound, and what they are made of.
///
/// - Thread: one at a time. It allocates nothing after its start.
package final class FollowedFeed: @unchecked Sendable {
  /// What the callback plays when it is given nothing.
  package let base: FilterSet
  /// The linear filters of all that the feed hears.
  let whole: FilterSet
  /// Of the setting that has this base, as in `Engine.change`.
  var lineage: Int
  /// `whole` in bins; nil where nothing needs them.
  let weights: LinearWeights?
  /// What stereo follows directions with; nil if it does not.
  package let ears: EarTable?
  /// What wind is taken out with; nil if it is not.
  let wind: WindReference?
  /// Nil if talkers and room are as loud.
  var part: FollowedPart?
  let passed: PassedSound?
  /// The place of each microphone among those that are heard; nil if it is not.
  private let slots: [Int?]
  /// Filters that are written at every update.
  private static let mostFilters = 128
  /// Of the postfilter: the least gain (-12 dB); the part of the wind's power that counts: beside strong wind little is known of
  /// the sound, and the whole cost 5 dB of speech; and a factor with which clear sound passes whole.
  private static let (leastGain, windPart, gainFactor): (Float, Float, Float) = (0.25, 0.1, 1.15)
  /// Whether the one or two directions of the band that is being solved are part of its talkers.
  var (takesFirst, takesSecond) = (false, false)
  /// 0…1: the corrections for directions are multiplied by it.
  package var strength = 0.0
  /// 0…1: how much of the wind is taken out.
  package var windStrength = 0.0
  /// Linear gains of the talkers, and of the rest.
  var talkersGain: Double
  var roomGain: Double
  /// By how many decibels the wind in this feed is softer than in its linear filters: as the sound is before the postfilter,
  /// which lowers both.
  private(set) var removed = 0.0
  /// Updates in which nothing was applied. A feed without corrections begins with its linear filters.
  var updatesAtRest: Int
  /// At the last delivery, the updates of the wind, and `windStrength`.
  private var delivered = (updates: -1, strength: 0.0)
  private var deliveredUpdate = Int.min
  /// Whether the callback may still play filters of this base that follow the sound, delivered by this feed or by its
  /// predecessor.
  var mayBeHeard = true
  /// Smoothed corrections `[bin][ear]`.
  let corrections: MicrophoneVectors?
  /// The smoothed term of who speaks, `[bin][output]`.
  let talkers: MicrophoneVectors?
  /// `[output][microphone][tap]`, the linear filters included.
  package let filters: AlignedMemory
  /// What is added to the linear filters, times `roomGain`, where there is wind: `[bin][output][microphone]`, likewise.
  let cleaned: AlignedMemory?

  /// - Parameters:
  ///   - target: of the whole, with its tables.
  ///   - bins: of the corrections.
  init(_ target: AdaptiveFilters.Target, bins: Int) {
    (base, whole, weights, ears, wind, part, passed) = (
      target.base, target.whole, target.weights, target.ears, target.wind, target.part, target.passed
    )
    lineage = target.lineage
    slots = (0..<target.whole.microphones).map { m in target.array?.places.firstIndex(of: m) }
    updatesAtRest = ears == nil ? .max / 2 : 0
    (talkersGain, roomGain) = (0, 0)
    let size = whole.outputs * whole.microphones
    corrections = ears.map { _ in MicrophoneVectors(count: bins * target.whole.outputs) }
    talkers = part.map { _ in MicrophoneVectors(count: bins * target.whole.outputs) }
    filters = AlignedMemory(count: size * whole.taps)
    cleaned = wind.map { AlignedMemory(count: $0.table.bins.count * size * 2) }
    (talkersGain, roomGain) = (restingGain, restingGain)
  }

  /// Goes on with the strengths and levels of what played before, if that stood for the same filters, or for those that these
  /// are turned from. Talkers are forgotten within milliseconds, until then those of before are better than silence.
  func continueFrom(_ old: FollowedFeed) {
    guard old.base === base || (lineage != 0 && lineage == old.lineage) else { return }
    if ears != nil, ears === old.ears { strength = old.strength }
    if wind != nil { windStrength = old.windStrength }
    if part != nil { (talkersGain, roomGain) = (old.talkersGain, old.roomGain) }
    if let talkers, let known = old.talkers, known.count == talkers.count { talkers.copy(from: known) }
    updatesAtRest = min(updatesAtRest, old.updatesAtRest)
  }

  /// Whether its filters have changed since the last call; what only wind changes does so more rarely. Those of many outputs
  /// and microphones, which take long to write, wait for some updates.
  /// - Parameter update: the number of the newest one.
  func needsDelivery(_ analysis: WindAnalysis?, update: Int) -> Bool {
    let pace = max(1, whole.outputs * whole.microphones / Self.mostFilters)
    guard update / pace != deliveredUpdate / pace else { return false }
    deliveredUpdate = update
    let now = (updates: analysis?.updates ?? 0, strength: windStrength)
    defer { delivered = now }
    return corrections != nil || talkers != nil || now != delivered
  }

  deinit {
    corrections?.free()
    talkers?.free()
    filters.free()
    cleaned?.free()
  }

  /// The gain of talkers and room while nothing follows the sound.
  var restingGain: Double { base === whole ? 1 : 0 }

  /// Whether talkers and room are as loud as in `base`.
  var isWhole: Bool { talkersGain == restingGain && roomGain == restingGain }

  func reset() {
    corrections?.clear()
    talkers?.clear()
  }

  func fadeCorrections(_ keep: Float) {
    corrections?.scale(keep)
    talkers?.scale(keep)
  }

  /// What is added, in a bin, to the linear filters times `roomGain`: of talkers and of corrections.
  /// - Parameter bin: of the corrections.
  func difference(_ output: Int, _ microphone: Int, _ bin: Int) -> (re: Float, im: Float) {
    var (re, im): (Float, Float) = (0, 0)
    guard let slot = slots[microphone] else { return (0, 0) }
    let at = bin * whole.outputs + output
    if let corrections {
      let value = corrections[at, slot]
      (re, im) = (Float(roomGain) * value.re, Float(roomGain) * value.im)
    }
    if let talkers {
      let (gain, value) = (Float(talkersGain - roomGain), talkers[at, slot])
      (re, im) = (re + gain * value.re, im + gain * value.im)
    }
    return (re, im)
  }

  /// Writes `cleaned`.
  /// - Parameters:
  ///   - lowest: the first bin of `corrections`.
  ///   - scratch: room for all filters of a bin.
  func clean(_ analysis: WindAnalysis, lowest: Int, scratch: UnsafeMutablePointer<Float>) {
    guard let wind, let cleaned, let weights else { return }
    let (outputs, microphones) = (whole.outputs, whole.microphones)
    let (size, terms) = (outputs * microphones * 2, microphones * microphones * 2)
    let (strength, room) = (Float(windStrength), Float(roomGain))
    var (before, after): (Float, Float) = (1e-30, 1e-30)
    for bin in wind.table.bins {
      let strength = strength * wind.shares[bin]
      let rows = cleaned.floats + bin * size
      weights.with(bin: bin) { linear in
        for n in 0..<size { scratch[n] = linear[n] }
        for n in 0..<size / 2 {
          let (re, im) = bin < lowest ? (0, 0) : difference(n / microphones, n % microphones, bin - lowest)
          rows[2 * n] = room * linear[2 * n] + re
          rows[2 * n + 1] = room * linear[2 * n + 1] + im
        }
      }
      let n = analysis.wind.floats + bin * microphones
      // Parts of a whole change alike: the whole says by how much.
      let (loud, noisy) = loudness(scratch, wind, bin * terms, n)
      for output in 0..<outputs { analysis.clean(scratch + output * microphones * 2, bin: bin) }
      let (soft, quiet) = loudness(scratch, wind, bin * terms, n)
      let gain = min(WindAnalysis.mostGain, (loud / soft).squareRoot())
      // Relative to what the sound has, so that soft and loud bins count alike.
      before += noisy / loud
      weights.with(bin: bin) { linear in
        for m in 0..<size { scratch[m] = (1 - strength) * linear[m] + strength * gain * scratch[m] }
      }
      let post = postfilter(loudness(scratch, wind, bin * terms, n))
      after += quiet * gain * gain * post * post / loud
      for m in 0..<size { scratch[m] = rows[m] }
      for output in 0..<outputs { analysis.clean(rows + output * microphones * 2, bin: bin) }
      weights.with(bin: bin) { linear in
        for m in 0..<size {
          rows[m] = post * ((1 - strength) * scratch[m] + strength * gain * rows[m]) - room * linear[m]
        }
      }
    }
    removed = Double(10 * log10(before / after))
  }

  /// The gain of a bin for the wind that the weights leave: of all outputs and parts alike, so that the image stays, and
  /// parts add up.
  /// - Source: the single-channel Wiener postfilter of K. U. Simmer, J. Bitzer and C. Marro, "Post-filtering techniques"
  ///   (2001), for less wind than there is, so that soft speech stays.
  private func postfilter(_ power: (kept: Float, wind: Float)) -> Float {
    let wiener = power.kept / (power.kept + Self.windPart * power.wind / WindAnalysis.weight)
    let pass = min(1, max(Self.leastGain, Self.gainFactor * wiener))
    return 1 - Float(windStrength) * (1 - pass)
  }

  /// Of filters `[output][microphone]`: the power of what shall stay, and that of the wind.
  private func loudness(
    _ rows: UnsafePointer<Float>, _ wind: WindReference, _ start: Int, _ noise: UnsafePointer<Float>
  ) -> (kept: Float, wind: Float) {
    var kept: Float = 1e-30
    wind.kept.withUnsafeBufferPointer { matrix in
      for output in 0..<wind.outputs {
        kept += Self.power(
          rows + output * whole.microphones * 2, matrix.baseAddress! + start, whole.microphones)
      }
    }
    return (kept, Self.noise(rows, noise, whole.outputs, whole.microphones))
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

  /// The wind that all outputs have; of dead microphones, none.
  private static func noise(
    _ rows: UnsafePointer<Float>, _ n: UnsafePointer<Float>, _ outputs: Int, _ count: Int
  )
    -> Float
  {
    var sum: Float = 0
    for m in 0..<outputs * count where n[m % count] < WindAnalysis.absent {
      sum += n[m % count] * (rows[2 * m] * rows[2 * m] + rows[2 * m + 1] * rows[2 * m + 1])
    }
    return sum
  }
}
