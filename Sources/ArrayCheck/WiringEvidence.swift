import Acoustics
import Manifolds

/// What sound from several places says about polarity, order and delays of the microphones that are alive.
struct WiringEvidence {
  /// Channels whose polarity is inverted; `isTie` if it may be the others.
  private(set) var inverted: [Int] = []
  private(set) var isTie = false
  /// Whether polarity could be judged.
  private(set) var knowsPolarity = false
  private(set) var order: OrderSearch?
  private(set) var late: [(candidates: [LateSearch.Candidate], isOneOf: Bool)] = []
  /// Why delays could not be judged; nil if they were.
  private(set) var lateObstacle: String?
  private(set) var levels = LevelComparison()
  /// Number of distinct directions that sound came from.
  private(set) var directions = 0
  let isometries: [[Int]]
  /// 1 for a line, 2 for a plane, 3 for anything else.
  let rank: Int
  let events: SoundEvents

  private static let eventLimit = 40
  static let fewestEvents = 8
  private static let points = 48
  /// A direction counts if this part of the events came from there.
  private static let directionShare = 0.12
  /// Number of late microphones that are looked for.
  private static let lateLimit = 3
  /// By how much a sign must explain the events better than the other one.
  private static let signGain = 0.02

  /// - Parameters:
  ///   - signals: of the microphones in `subset`, with gains and polarities that the device states undone.
  ///   - delays: that the device states, in seconds.
  init(
    _ device: Device, manifold: any ArrayManifold, subset: [Int], signals: [[Float]], sampleRate: Int,
    delays: [Double]
  ) {
    let isFree = device.body == .free
    let levelBand = isFree ? 200.0...4000.0 : 200.0...1500.0
    let spectra = ShortTimeSpectra(signals, sampleRate: sampleRate, highest: SoundEvents.band.upperBound)
    let events = SoundEvents(
      spectra, limit: Self.eventLimit, points: Self.points, levelBand: levelBand, delays: delays)
    self.events = events
    let part = SubsetManifold(manifold, subset: subset)
    let microphones = subset.map { device.microphones[$0] }
    let positions = microphones.map(\.position)
    let size = subset.count
    isometries = size <= 16 ? OrderSearch.isometries(microphones) : [Array(0..<size)]
    let table = SteeringTable(
      device, manifold: manifold, subset: subset, frequencies: events.frequencies, levelBand: levelBand)
    rank = table.rank
    let identity = Array(0..<size)
    let unturned = SteeredPowers(table, events, order: identity)

    func turned(_ channels: [Int]) -> SteeredPowers {
      channels.reduce(unturned) {
        $0.changed(channel: $1, advance: 0, inverts: true, frequencies: events.frequencies)
      }
    }
    var vote = PolarityVote(spectra, manifold: part, order: identity)
    var flips = vote.isClear && !vote.isTie ? vote.inverted : []
    var powers = turned(flips)

    if events.count >= Self.fewestEvents, size > 1 {
      let coherence = CoherenceOrder(spectra, manifold: part)
      func search(_ powers: SteeredPowers) -> OrderSearch {
        OrderSearch(
          powers, table: table, events: events, positions: positions, isometries: isometries,
          coherence: coherence)
      }
      let redundancy = size - 1 - table.rank
      directions = Self.directions(powers.sources.map { table.directions[$0] })
      let canJudgeDelays = events.areOnsets && (redundancy > 0 || (size >= 4 && directions >= 3))
      if !events.areOnsets {
        lateObstacle = "no sound stood out from the noise; speak or clap, from four sides"
      } else if !canJudgeDelays {
        lateObstacle =
          size < 4
          ? "with \(size) microphones every delay looks like another direction"
          : "sound came from too few sides; let somebody speak from four sides and from above"
      }
      func lateSearch(_ powers: SteeredPowers) -> LateSearch.Candidate? {
        guard canJudgeDelays else { return nil }
        let search = LateSearch(powers, frequencies: events.frequencies, microphones: size)
        guard let best = search.candidates.first,
          abs(best.delay) >= (directions > 1 ? LateSearch.leastDelay : LateSearch.leastDelayOneSided),
          best.comparison.gain
            > (powers.mean > 0.5 ? LateSearch.leastGain : LateSearch.leastGainWithoutDirections),
          best.comparison.certainty > LateSearch.leastCertainty
        else { return nil }
        let similar = search.candidates.filter { $0.comparison.gain > 0.8 * best.comparison.gain }
        late.append((similar, similar.count > 1))
        return best
      }
      func corrected(_ powers: SteeredPowers, _ candidate: LateSearch.Candidate) -> SteeredPowers {
        powers.changed(
          channel: candidate.microphone, advance: candidate.delay, frequencies: events.frequencies)
      }

      var found = search(powers)
      if !found.isGiven {
        let second = PolarityVote(spectra, manifold: part, order: found.found.order)
        if second.isClear, !second.isTie, second.inverted != flips {
          let again = search(turned(second.inverted))
          if again.found.mean > found.found.mean {
            (vote, flips, found) = (second, second.inverted, again)
            powers = turned(flips)
          }
        }
      }
      // Without the late microphone, the order may be another: what explains more goes first.
      var current = found.found
      if !found.isGiven, !found.isByCoherence, let candidate = lateSearch(powers) {
        if candidate.comparison.gain > found.comparison.gain {
          found = search(corrected(powers, candidate))
          current = found.found
        } else {
          late = []
        }
      }
      for _ in late.count..<Self.lateLimit {
        guard let next = lateSearch(current) else { break }
        current = corrected(current, next)
      }
      order = found
      powers = current

      // Phases up to 4 kHz have the last word on polarity, where there are enough microphones.
      if size > 2 {
        let isVoted = vote.isClear && !vote.isTie
        var signs: [Int] = []
        for m in 0..<size {
          let other = Comparison(
            powers.scores,
            powers.scores(channel: m, advance: 0, inverts: true, frequencies: events.frequencies))
          if other.gain > Self.signGain, other.certainty > 5 { signs.append(m) }
        }
        if isVoted {
          inverted = flips.filter { !signs.contains($0) }
          knowsPolarity = true
        } else if signs.count <= size / 2 - 1 || signs.count == 1 {
          inverted = signs
          knowsPolarity = vote.isClear || powers.mean > 0.5
          if vote.isClear, vote.isTie { (inverted, isTie) = (vote.inverted, true) }
        }
      } else {
        (inverted, isTie, knowsPolarity) = (vote.isClear ? vote.inverted : [], vote.isTie, vote.isClear)
      }
    } else {
      knowsPolarity = vote.isClear
      (inverted, isTie) = (vote.isClear ? vote.inverted : [], vote.isTie)
    }
    if inverted.isEmpty { isTie = false }
    levels = LevelComparison(
      events, table: table, sources: powers.sources, order: powers.order)
  }

  /// Number of directions, more than 26° apart, that at least some of the events came from.
  private static func directions(_ all: [SIMD3<Double>]) -> Int {
    var left = all
    var count = 0
    while let best = left.max(by: { a, b in
      left.count { $0.dot(a) > 0.9 } < left.count { $0.dot(b) > 0.9 }
    }) {
      let near = left.count { $0.dot(best) > 0.9 }
      guard Double(near) >= directionShare * Double(all.count) else { break }
      count += 1
      left.removeAll { $0.dot(best) > 0.9 }
    }
    return count
  }
}
