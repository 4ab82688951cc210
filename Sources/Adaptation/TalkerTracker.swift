import Acoustics
import Glibc
import Numerics

/// At most four; nil where there are fewer.
public typealias Talkers = InlineArray<4, TrackedTalker?>

/// Follows up to four talkers through the bands' momentary directions.
///
/// A direction counts as far as it is that of one sound (`DirectionFinder.directness`), and as far as the band has just
/// become louder than reverberation would be: reflections come later than what they reflect, and mostly softer. What lies
/// near a talker moves it; what lies near none begins another once it is enough.
///
/// - Thread: one at a time. It allocates nothing after its start.
package final class TalkerTracker {
  /// Seconds for which a talker that is silent keeps its identity.
  package static let memory = 5.0
  /// Time constants in seconds: of what is heard in all, of a talker's evidence, of its quick and slow positions.
  private static let (recent, activity, quick, slow) = (0.5, 0.4, 0.17, 1.0)
  /// Evidence around a direction that begins a talker, 1.4 times the most of diffuse noise; and that which keeps one. And
  /// parts of all evidence, and of that of the strongest talker, below which it is not one.
  private static let (beginning, keeping, least, weakest) = (8.1e-4, 5.8e-5, 0.13, 0.05)
  /// Cosines of the angles within which evidence is a talker's, begins one, and two talkers are the same.
  private static let (near, around, same) = (cosine(22), cosine(15), cosine(14))
  /// Evidence in one moment that shows a talker to speak, and seconds without any after which it does not: pauses between
  /// words are shorter.
  private static let (moment, pause) = (2e-4, 0.6)
  /// Angles in degrees between quick and slow positions from which a talker counts as moving, in part and for sure.
  private static let moving = 3.0...8.0
  /// By how much reverberation falls, in decibels per second: T60 of half a second.
  private static let reverberation = 120.0
  /// A band this much softer than the loudest one says nothing; that one is forgotten with a time constant in seconds.
  private static let (range, deafness) = (Float(1e-3), 0.5)

  private struct Track {
    var talker: TrackedTalker
    /// Sums of directions by evidence, with the time constants `quick` and `slow`.
    var quick: SIMD3<Double>
    var slow: SIMD3<Double>
    /// Evidence, with the time constants `activity` and `recent`.
    var activity: Double
    var recent: Double
    /// Seconds since there was evidence.
    var pause = 0.0
  }

  private let array: ArrayTable
  /// Of each of the search's directions, where it is taken to be, the search's direction nearest to that, and what it counts
  /// for.
  private let places: [(direction: SIMD3<Double>, nearest: Int, weight: Double)]
  private let seconds: Double
  private var tracks: [Track] = []
  private var lastIdentity = 0
  /// Evidence of the search's directions that belongs to no talker.
  private var free: [Float]
  /// All evidence.
  private var total = 0.0
  /// Of each band, the power that reverberation has at most.
  private var reverberant: [Float]
  private var loudest: Float = 0

  /// - Parameter plane: for an array that cannot tell above from below, a unit vector across its plane: directions are
  ///   taken to lie in the plane, and count less the farther they are from it.
  package init(_ finder: DirectionFinder, plane: SIMD3<Double>? = nil) {
    let directions = finder.array.directions
    array = finder.array
    places = directions.enumerated().map { n, direction in
      guard let plane, let flat = (direction - direction.dot(plane) * plane).unit else {
        return (direction, n, 1)
      }
      let nearest = directions.indices.max { directions[$0].dot(flat) < directions[$1].dot(flat) }!
      return (flat, nearest, pow(direction.dot(flat), 4))
    }
    seconds = finder.secondsPerUpdate
    free = [Float](repeating: 0, count: array.directions.count)
    reverberant = [Float](repeating: 0, count: finder.momentary.count)
    tracks.reserveCapacity(Talkers.count + 1)
  }

  /// Those who sound, and those who have sounded in the last seconds; the longest known come first.
  package var talkers: Talkers {
    Talkers { tracks.indices.contains($0) ? tracks[$0].talker : nil }
  }

  /// Forgets everybody.
  package func reset() {
    tracks.removeAll(keepingCapacity: true)
    for d in free.indices { free[d] = 0 }
    for band in reverberant.indices { reverberant[band] = 0 }
    (total, loudest) = (0, 0)
  }

  /// Goes on by what frames have led to.
  package func take(_ step: DirectionFinder.Step, of finder: DirectionFinder) {
    switch step {
    case .none: break
    case .silence: pass(seconds: seconds / Double(DirectionFinder.hopsPerUpdate))
    case .directions: update(finder)
    }
  }

  /// Time passes in which everything is silent.
  private func pass(seconds: Double) {
    for n in tracks.indices {
      tracks[n].pause += seconds
      tracks[n].talker.silence = tracks[n].pause
      tracks[n].talker.confidence = 0
    }
    tracks.removeAll { $0.pause > Self.memory }
  }

  /// Takes the directions that the finder has just found.
  private func update(_ finder: DirectionFinder) {
    forget()
    hear(finder)
    for n in tracks.indices { move(&tracks[n]) }
    judgeActivity(level: finder.level)
    removeDoubles()
    begin(level: finder.level)
  }

  /// Lets old evidence count less.
  private func forget() {
    let keep = exp(-seconds / Self.recent)
    for d in free.indices { free[d] *= Float(keep) }
    total *= keep
    for n in tracks.indices {
      tracks[n].quick *= exp(-seconds / Self.quick)
      tracks[n].slow *= exp(-seconds / Self.slow)
      tracks[n].activity *= exp(-seconds / Self.activity)
      tracks[n].recent *= keep
      tracks[n].pause += seconds
    }
  }

  /// Gives each band's evidence to the talker that is near, or to nobody.
  private func hear(_ finder: DirectionFinder) {
    let fall = Float(pow(10, -Self.reverberation * seconds / 10))
    loudest = max(loudest * Float(exp(-seconds / Self.deafness)), finder.powers.max() ?? 0)
    let (recent, activity) = (1 - exp(-seconds / Self.recent), 1 - exp(-seconds / Self.activity))
    for band in reverberant.indices {
      let power = finder.powers[band]
      let expected = reverberant[band] * fall
      reverberant[band] = max(expected, power)
      guard power > Self.range * loudest, power > 1.5 * expected else { continue }
      let direct = finder.directness[band]
      let (direction, nearest, weight) = places[finder.momentary[band]]
      let evidence =
        weight * Double(direct * direct * direct * (1 - 1.5 * expected / power)) / Double(reverberant.count)
      total += recent * evidence
      if let n = talker(nearest: direction), tracks[n].talker.direction.dot(direction) > Self.near {
        tracks[n].quick += evidence * direction
        tracks[n].slow += evidence * direction
        tracks[n].activity += activity * evidence
        tracks[n].recent += recent * evidence
        if evidence > Self.moment { tracks[n].pause = 0 }
      } else {
        for (d, weight) in array.neighbours[nearest] {
          free[d] += Float(recent * evidence) * weight
        }
      }
    }
  }

  private func talker(nearest direction: SIMD3<Double>) -> Int? {
    tracks.indices.max {
      tracks[$0].talker.direction.dot(direction) < tracks[$1].talker.direction.dot(direction)
    }
  }

  /// Moves a talker to its slow position, or, as far as the quick one differs, to where that leads.
  private func move(_ track: inout Track) {
    guard let slow = track.slow.unit else { return }
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
      let isActive =
        tracks[n].activity > max(Self.keeping, Self.weakest * most) && tracks[n].pause < Self.pause
      let confidence = total > 0 ? min(1, tracks[n].recent / total) : 0
      tracks[n].talker.confidence = isActive ? confidence : 0
      tracks[n].talker.silence = isActive ? 0 : max(seconds, tracks[n].pause)
      if isActive { tracks[n].talker.level = level + 10 * log10(max(confidence, 1e-3)) }
    }
    tracks.removeAll { $0.pause > Self.memory }
  }

  /// Of two talkers at one place, the older remains.
  private func removeDoubles() {
    var n = 1
    while n < tracks.count {
      let direction = tracks[n].talker.direction
      if tracks[..<n].contains(where: { $0.talker.direction.dot(direction) > Self.same }) {
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
        quick: 0.3 * sum, slow: sum, activity: evidence, recent: evidence))
    for (d, other) in array.directions.enumerated() where other.dot(direction) > Self.near { free[d] = 0 }
  }

  /// Forgets the talker that has been silent for longest, if there are as many as can be told.
  /// - Returns: false if all of them sound.
  private func makeRoom() -> Bool {
    guard tracks.count == Talkers.count else { return true }
    let longest = tracks.indices.max { tracks[$0].talker.silence < tracks[$1].talker.silence }!
    if tracks[longest].talker.isActive { return false }
    tracks.remove(at: longest)
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
