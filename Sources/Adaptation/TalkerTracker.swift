import Acoustics
import Glibc
import Numerics

/// At most four; nil where there are fewer.
public typealias Talkers = InlineArray<4, TrackedTalker?>

/// Follows talkers through the directions of onsets.
///
/// A direction counts as far as it is that of one sound, and as far as its band has just become louder than reverberation
/// would be (`DirectionFinder.onsets`): reflections come later than what they reflect, and mostly softer. What lies near a
/// talker moves it; what lies near none begins another once it is enough. Who was heard is remembered by place, so that
/// what comes from there again is the same talker.
///
/// - Thread: one at a time. It allocates nothing after its start, but for `changes`.
package final class TalkerTracker {
  /// Seconds for which a talker that is silent is told.
  package static let memory = 5.0
  /// The most places that are remembered.
  package static let mostPlaces = 32
  /// Time constants in seconds: of what is heard in all, of a talker's evidence, of its quick and slow positions
  private static let (recent, activity, quick, slow) = (0.5, 0.4, 0.17, 1.0)
  /// Evidence around a direction that begins a talker, or lets one be heard again, 1.4 times the most of diffuse noise; and
  /// that which keeps one. And parts of all evidence, and of that of the strongest talker, below which nobody begins.
  private static let (beginning, keeping, least, weakest) = (8.1e-4, 5.8e-5, 0.13, 0.05)
  /// What the place where somebody was heard last counts for beside evidence of where it is now.
  private static let anchor = 0.003
  /// Cosines of the angles within which evidence is a talker's, begins one, and two talkers are the same.
  private static let (near, around, same) = (cosine(22), cosine(15), cosine(14))
  /// By how many degrees somebody who sounded within `memory` counts as nearer to evidence than who is only remembered.
  private static let preference = 10.0
  /// Seconds for which a talker has sounded in all before it can hide a silent one, or remain beside it.
  private static let established = 1.0
  /// Evidence in one moment that shows a talker to speak, as it is told at once and in a list, which may not say too much;
  /// and seconds without any after which it does not: pauses between words are shorter.
  private static let (moment, sureMoment, pause) = (2e-4, 1.5e-3, 0.6)
  /// Seconds from the beginning of somebody's first sound until it is a talker, and from the last onset of a sound until it
  /// ends.
  private static let (delay, decay) = (0.2, 0.1)
  /// Seconds of a list that are not heard, after which what is found no longer depends on what came before.
  private static let runIn = 0.25
  /// Angles in degrees between quick and slow positions from which a talker counts as moving, in part and for sure.
  private static let moving = 3.0...8.0
  /// Cosine of the angle up to which a plane is the same.
  private static let samePlane = cosine(10)
  /// Seconds from the beginning of a sound until its level and confidence are told, which are low at its onset.
  private static let settling = 0.5
  /// Cosine of the angle by which a talker has moved when that is told.
  private static let step = cosine(5)

  private struct Track {
    var talker: TrackedTalker
    /// Sums of directions by evidence, with the time constants `quick` and `slow`.
    var quick: SIMD3<Double>
    var slow: SIMD3<Double>
    /// Evidence, with the time constants `activity` and `recent`.
    var activity: Double
    var recent: Double
    /// Evidence so far.
    var sum = 0.0
    /// Seconds for which it has sounded so far.
    var heard = 0.0
    /// The clock when there was evidence last, and when the present sound began.
    var last: Int
    var start: Int
    /// Whether it gets no evidence, because another talker sounds in its place (`hide`).
    var isHidden = false
    /// While it sounds: where it was told to be, and sums over what it sounds like.
    var told = SIMD3<Double>.zero
    var means = Means()

    /// Where it is, with its mean level and confidence since it began.
    var settled: TrackedTalker {
      var settled = mean
      settled.direction = talker.direction
      return settled
    }

    /// Where it was and what it sounded like on average since it began.
    var mean: TrackedTalker {
      var mean = talker
      guard means.count > 0 else { return mean }
      mean.direction = means.direction.unit ?? talker.direction
      mean.level = 10 * log10(means.power / means.count)
      mean.confidence = means.confidence / means.count
      return mean
    }
  }

  private struct Means {
    var (count, direction, power, confidence) = (0.0, SIMD3<Double>.zero, 0.0, 0.0)
  }

  private let array: ArrayTable
  /// Of each of the search's directions, where it is taken to be, the search's direction nearest to that, and what it counts
  /// for.
  private var places: [(direction: SIMD3<Double>, nearest: Int, weight: Double)] = []
  private var plane: SIMD3<Double>?
  private let seconds: Double
  private let rate: Double
  private var clock = 0
  /// What comes before is not told, because what came before that is still heard in it.
  private var start = Int.min
  private var tracks: [Track] = []
  private var lastIdentity = 0
  /// Evidence of the search's directions that belongs to no talker.
  private var free: [Float]
  /// All evidence.
  private var total = 0.0
  /// Who began, moved by 5°, has sounded for half a second, or ceased, since somebody emptied it; nil if nobody wants to know.
  /// But for the beginning, levels and confidences are means since then: those who sound to the end of a take have no end.
  package var changes: [TalkerChange]?

  /// - Parameter plane: for an array that cannot tell above from below, a unit vector across its plane: directions are
  ///   taken to lie in the plane, and count less the farther they are from it.
  package init(_ finder: DirectionFinder, plane: SIMD3<Double>? = nil) {
    array = finder.array
    seconds = finder.secondsPerUpdate
    rate = finder.sampleRate
    free = [Float](repeating: 0, count: array.directions.count)
    tracks.reserveCapacity(Self.mostPlaces + 1)
    look(across: plane)
  }

  /// Takes directions to lie in another plane from now on, as `init` says. Everybody keeps the number.
  package func look(across plane: SIMD3<Double>?) {
    // Not at every degree of a rolling device: it takes a moment.
    if let plane, let present = self.plane, plane.dot(present) > Self.samePlane { return }
    if plane == nil, self.plane == nil, !places.isEmpty { return }
    self.plane = plane
    let directions = array.directions
    places = directions.enumerated().map { n, direction in
      guard let plane, let flat = (direction - direction.dot(plane) * plane).unit else {
        return (direction, n, 1)
      }
      let nearest = directions.indices.max { directions[$0].dot(flat) < directions[$1].dot(flat) }!
      return (flat, nearest, pow(direction.dot(flat), 4))
    }
  }

  /// Those who sound, and those who have sounded in the last seconds; the longest known come first.
  package var talkers: Talkers {
    var most = Self.memory
    if tracks.count > Talkers.count {
      var shortest = InlineArray<4, Double>(repeating: .infinity)
      for track in tracks {
        var silence = track.talker.silence
        for n in shortest.indices where silence < shortest[n] {
          (shortest[n], silence) = (silence, shortest[n])
        }
      }
      most = min(most, shortest[Talkers.count - 1])
    }
    var (told, count) = (Talkers(repeating: nil), 0)
    for track in tracks where track.talker.silence <= most && count < Talkers.count {
      told[count] = track.talker
      count += 1
    }
    return told
  }

  /// Forgets everybody.
  package func reset() {
    for n in tracks.indices where tracks[n].talker.isActive { end(n) }
    tracks.removeAll(keepingCapacity: true)
    forgetSound()
  }

  private func forgetSound() {
    for d in free.indices { free[d] = 0 }
    total = 0
  }

  /// Goes on by what frames have led to.
  package func take(_ step: DirectionFinder.Step, of finder: DirectionFinder) {
    switch step {
    case .none: break
    case .silence: pass(to: finder.clock)
    case .directions: take(finder.onsets, level: finder.level, at: finder.clock)
    }
  }

  /// Time passes in which everything is silent.
  package func pass(to clock: Int) {
    self.clock = clock
    forgetSound()
    for n in tracks.indices {
      (tracks[n].activity, tracks[n].recent) = (0, 0)
      (tracks[n].quick, tracks[n].slow) = (.zero, .zero)
      if tracks[n].talker.isActive { end(n) }
      tracks[n].talker.silence = max(tracks[n].talker.silence, since(tracks[n].last))
    }
  }

  /// Takes the onsets up to a time.
  package func take(_ onsets: some Sequence<DirectionFinder.Onset>, level: Double, at clock: Int) {
    guard clock > start else { return }
    self.clock = clock
    forget()
    hide()
    for onset in onsets { hear(onset) }
    judgeActivity(level: level)
    for n in tracks.indices { move(&tracks[n]) }
    removeDoubles()
    begin(level: level)
  }

  /// Hears what comes from `clock` on, and tells it. Call it before the first.
  package func begin(at clock: Int) {
    (start, changes) = (clock + Int(Self.runIn * rate), [])
  }

  private func since(_ past: Int) -> Double { Double(clock - past) / rate }

  /// Lets old evidence count less.
  private func forget() {
    let keep = exp(-seconds / Self.recent)
    for d in free.indices { free[d] *= Float(keep) }
    total *= keep
    let (quick, slow, activity) = (
      exp(-seconds / Self.quick), exp(-seconds / Self.slow), exp(-seconds / Self.activity)
    )
    for n in tracks.indices {
      tracks[n].quick *= quick
      tracks[n].slow *= slow
      tracks[n].activity *= activity
      tracks[n].recent *= keep
    }
  }

  /// Hides each silent talker within 14° of one that sounds, and has for more than a second in all: what comes from there is
  /// that one's.
  private func hide() {
    for n in tracks.indices {
      let talker = tracks[n].talker
      tracks[n].isHidden =
        !talker.isActive
        && tracks.contains {
          $0.talker.isActive && $0.heard > Self.established
            && $0.talker.direction.dot(talker.direction) > Self.same
        }
    }
  }

  /// Gives evidence to the talker that is near, or to nobody.
  private func hear(_ onset: DirectionFinder.Onset) {
    let (recent, activity) = (1 - exp(-seconds / Self.recent), 1 - exp(-seconds / Self.activity))
    let (direction, nearest, weight) = places[onset.direction]
    let evidence = weight * Double(onset.evidence)
    total += recent * evidence
    if let n = talker(near: direction) {
      tracks[n].quick += evidence * direction
      tracks[n].slow += evidence * direction
      tracks[n].activity += activity * evidence
      tracks[n].recent += recent * evidence
      tracks[n].sum += evidence
      if evidence > (changes == nil ? Self.moment : Self.sureMoment) {
        if since(tracks[n].last) > Self.pause { tracks[n].start = clock }
        tracks[n].last = clock
      }
    } else {
      for (d, weight) in array.neighbours[nearest] {
        free[d] += Float(recent * evidence) * weight
      }
    }
  }

  /// The nearest within 22°. Who is silent for longer than `memory` counts as 10° farther, so that who walks past keeps the
  /// number.
  private func talker(near direction: SIMD3<Double>) -> Int? {
    var (best, least): (Int?, Double) = (nil, .infinity)
    for n in tracks.indices where !tracks[n].isHidden {
      let cosine = tracks[n].talker.direction.dot(direction)
      guard cosine > Self.near else { continue }
      let angle = acos(min(1, cosine)) * 180 / .pi
      let distance = angle + (tracks[n].talker.silence > Self.memory ? Self.preference : 0)
      if distance < least { (best, least) = (n, distance) }
    }
    return best
  }

  /// Moves a talker to its slow position, or, as far as the quick one differs, to where that leads.
  private func move(_ track: inout Track) {
    guard track.talker.isActive, let slow = track.slow.unit else { return }
    let quick = track.quick.unit ?? slow
    let apart = acos(max(-1, min(1, slow.dot(quick)))) * 180 / .pi
    let (low, high) = (Self.moving.lowerBound, Self.moving.upperBound)
    let share = max(0, min(1, (apart - low) / (high - low)))
    // What moves steadily is ahead of the quick position as that is of the slow one, by the ratio of their delays.
    let lead = 1 + Self.quick / (Self.slow - Self.quick)
    track.talker.direction = (slow + share * lead * (quick - slow)).unit ?? slow
  }

  private func judgeActivity(level: Double) {
    let most = tracks.reduce(0) { max($0, $1.activity) }
    for n in tracks.indices {
      let wasActive = tracks[n].talker.isActive
      let enough = wasActive ? Self.keeping : Self.beginning
      let isActive =
        tracks[n].activity > max(enough, Self.weakest * most) && since(tracks[n].last) < Self.pause
        && (wasActive || tracks[n].recent > Self.least * total)
      let confidence = total > 0 ? min(1, tracks[n].recent / total) : 0
      if isActive {
        tracks[n].talker.level = level + 10 * log10(max(confidence, 1e-3))
        tracks[n].talker.confidence = confidence
        if !wasActive {
          tracks[n].slow += Self.anchor * tracks[n].talker.direction
          tracks[n].quick += Self.anchor * tracks[n].talker.direction
          begin(n, at: tracks[n].start)
        }
        tell(n)
      } else {
        if wasActive { end(n) }
        tracks[n].talker.confidence = 0
        tracks[n].talker.silence = max(seconds, since(tracks[n].last))
      }
    }
  }

  /// Somebody begins to sound.
  private func begin(_ n: Int, at clock: Int) {
    tracks[n].talker.silence = 0
    (tracks[n].told, tracks[n].means) = (tracks[n].talker.direction, Means())
    changes?.append(TalkerChange(frame: clock, talker: tracks[n].talker))
  }

  /// Somebody goes on to sound.
  private func tell(_ n: Int) {
    let talker = tracks[n].talker
    tracks[n].heard += seconds
    tracks[n].means.count += 1
    tracks[n].means.direction += talker.direction
    tracks[n].means.power += pow(10, talker.level / 10)
    tracks[n].means.confidence += talker.confidence
    if tracks[n].means.count == (Self.settling / seconds).rounded() {
      changes?.append(TalkerChange(frame: clock, talker: tracks[n].settled))
    }
    guard talker.direction.dot(tracks[n].told) < Self.step else { return }
    tracks[n].told = talker.direction
    changes?.append(TalkerChange(frame: clock, talker: tracks[n].settled))
  }

  /// Somebody ceases.
  private func end(_ n: Int) {
    tracks[n].talker.silence = max(seconds, since(tracks[n].last))
    changes?.append(
      TalkerChange(frame: min(clock, tracks[n].last + Int(Self.decay * rate)), talker: tracks[n].mean))
  }

  /// Of two talkers within 14°, removes the younger, unless that has sounded for more than a second in all, and is hidden while
  /// the older sounds, or has sounded within `memory` while the older is silent.
  private func removeDoubles() {
    var n = 1
    while n < tracks.count {
      let track = tracks[n]
      let isDouble = tracks[..<n].contains { older in
        guard older.talker.direction.dot(track.talker.direction) > Self.same else { return false }
        let stays = older.talker.isActive ? track.isHidden : track.talker.silence <= Self.memory
        return !(stays && track.heard > Self.established)
      }
      if isDouble {
        if tracks[n].talker.isActive { end(n) }
        tracks.remove(at: n)
      } else {
        n += 1
      }
    }
  }

  /// Begins a talker where the evidence of nobody is most, if it is enough.
  private func begin(level: Double) {
    var best = 0
    for d in free.indices where free[d] > free[best] { best = d }
    let centre = array.directions[best]
    var (evidence, mean) = (0.0, SIMD3<Double>.zero)
    for (d, direction) in array.directions.enumerated() where direction.dot(centre) > Self.around {
      evidence += Double(free[d])
      mean += Double(free[d]) * direction
    }
    guard evidence > Self.beginning, evidence > Self.least * total, let direction = mean.unit, makeRoom()
    else { return }
    lastIdentity += 1
    let confidence = min(1, evidence / total)
    // As if the evidence had come just now.
    let sum = evidence / (1 - exp(-seconds / Self.recent)) * direction
    tracks.append(
      Track(
        talker: TrackedTalker(
          identity: lastIdentity, direction: direction, level: level + 10 * log10(confidence),
          confidence: confidence),
        quick: 0.3 * sum, slow: sum, activity: evidence, recent: evidence, last: clock,
        start: clock))
    begin(tracks.count - 1, at: clock - Int(Self.delay * rate))
    for (d, other) in array.directions.enumerated() where other.dot(direction) > Self.near { free[d] = 0 }
  }

  /// Forgets the place that least was heard from, if there are as many as can be remembered.
  /// - Returns: false if all of them sound.
  private func makeRoom() -> Bool {
    guard tracks.count == Self.mostPlaces else { return true }
    let silent = tracks.indices.filter { !tracks[$0].talker.isActive }
    guard let least = silent.min(by: { tracks[$0].sum < tracks[$1].sum }) else { return false }
    tracks.remove(at: least)
    return true
  }

  private static func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
}

extension SIMD3<Double> {
  /// Nil for one without length.
  fileprivate var unit: SIMD3<Double>? {
    let length = dot(self).squareRoot()
    return length > 1e-12 ? self / length : nil
  }
}
