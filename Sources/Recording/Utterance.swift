import Acoustics
import Glibc
import Settings

/// A part of a take in which somebody speaks, in the terms of people: with the pauses between words, and without what is too
/// short to be speech.
public struct Utterance: Hashable, Sendable {
  /// Of the talker: 1 for who was heard first.
  public let number: Int
  public let name: String
  /// In seconds from the take's first frame.
  public let begin: Double
  public let duration: Double
  public let look: Look
  /// RMS at the microphones, in decibels of full scale.
  public let level: Double
  /// The part of what was heard directly that came from there, 0…1.
  public let confidence: Double

  public init(
    number: Int, name: String, begin: Double, duration: Double, look: Look, level: Double, confidence: Double
  ) {
    (self.number, self.name, self.begin, self.duration) = (number, name, begin, duration)
    (self.look, self.level, self.confidence) = (look, level, confidence)
  }

  public var end: Double { begin + duration }

  /// In seconds: pauses that are no end, sounds that are no speech, and the sum of sounds without which nobody is a talker.
  static let (pause, blip, least) = (0.5, 0.15, 1.0)
  /// Seconds for which two identities may sound at once, and still be one talker; also a tenth of what the shorter has.
  static let mostOverlap = 1.0
  /// The angle in degrees between places that are one.
  static let samePlace = 18.0
  /// Whoever ceases within the last seconds of a take is taken to speak to its end: live, it is not known before it ends.
  static let edge = 0.8
  /// Whoever begins so few seconds before its end is left out, for the same reason.
  static let lateness = 0.4

  private struct Sound {
    var identity: Int
    var begin: Int
    var end: Int
    var look: Look
    var level: Double
    var confidence: Double

    /// With another one, and the pause before it.
    func joined(_ next: Sound) -> Sound {
      let (a, b) = (Double(max(1, end - begin)), Double(max(1, next.end - next.begin)))
      func mean(_ x: Double, _ y: Double) -> Double { (a * x + b * y) / (a + b) }
      let turn = next.look.turned(left: -look.azimuth, up: 0).azimuth * b / (a + b)
      var joined = self
      joined.end = max(end, next.end)
      joined.look = Look(
        azimuth: look.turned(left: turn, up: 0).azimuth, elevation: mean(look.elevation, next.look.elevation))!
      joined.level = 10 * log10(mean(pow(10, level / 10), pow(10, next.level / 10)))
      joined.confidence = mean(confidence, next.confidence)
      return joined
    }
  }

  /// What a sidecar lists, for people.
  /// - Parameter frames: of the take.
  public static func list(
    _ talkers: [Sidecar.Talker], frames: Int, sampleRate: Int, seats: [Seat] = []
  ) -> [Utterance] {
    let rate = Double(sampleRate)
    func count(_ seconds: Double) -> Int { Int(seconds * rate) }
    let least = min(count(least), frames)
    var sounds = joined(
      sounds(talkers, until: frames, edge: count(edge), late: count(lateness)), pause: count(pause)
    ).filter { $0.end - $0.begin >= count(blip) }
    // Who moved away, and was then taken for another in the same place.
    let each = Dictionary(grouping: sounds, by: \.identity)
    let same = sameTalkers(places(sounds, least: 0)) { one, other in
      let (one, other) = (each[one]!, each[other]!)
      return overlap(one, other) > max(count(mostOverlap), min(length(one), length(other)) / 10)
    }
    for n in sounds.indices { sounds[n].identity = same[sounds[n].identity] ?? sounds[n].identity }
    sounds = joined(sounds, pause: count(pause))
    let places = places(sounds, least: least)
    let names = Seat.names(seats, of: places)
    let numbers = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1.talker, $0 + 1) })
    return sounds.compactMap { sound in
      numbers[sound.identity].map { number in
        Utterance(
          number: number, name: names[sound.identity] ?? "talker \(number)",
          begin: Double(sound.begin) / rate,
          duration: Double(sound.end - sound.begin) / rate, look: sound.look, level: sound.level,
          confidence: sound.confidence)
      }
    }
    .sorted { ($0.begin, $0.number) < ($1.begin, $1.number) }
  }

  /// Where the identities are that sound for long enough, in the order in which they begin.
  private static func places(_ sounds: [Sound], least: Int) -> [(talker: Int, look: Look)] {
    var all: [Int: (frames: Int, sum: Sound)] = [:]
    var order: [Int] = []
    for sound in sounds {
      let frames = sound.end - sound.begin
      if let own = all[sound.identity] {
        // As if it had sounded at once.
        var next = sound
        (next.begin, next.end) = (own.sum.end, own.sum.end + frames)
        all[sound.identity] = (own.frames + frames, own.sum.joined(next))
      } else {
        order.append(sound.identity)
        all[sound.identity] = (frames, sound)
      }
    }
    return order.filter { all[$0]!.frames >= least }.map { ($0, all[$0]!.sum.look) }
  }

  /// Of each identity that is in an earlier one's place, that one.
  /// - Parameter areTwo: whether two identities cannot be one.
  private static func sameTalkers(
    _ places: [(talker: Int, look: Look)], _ areTwo: (Int, Int) -> Bool
  ) -> [Int: Int] {
    var (same, kept): ([Int: Int], [(talkers: [Int], look: Look)]) = ([:], [])
    for place in places {
      let first = kept.firstIndex { other in
        other.look.angle(to: place.look) < samePlace && !other.talkers.contains { areTwo($0, place.talker) }
      }
      if let first {
        same[place.talker] = kept[first].talkers[0]
        kept[first].talkers.append(place.talker)
      } else {
        kept.append(([place.talker], place.look))
      }
    }
    return same
  }

  /// For how many frames two sound at once: sounds of each in their order.
  private static func overlap(_ one: [Sound], _ other: [Sound]) -> Int {
    var (frames, a, b) = (0, 0, 0)
    while a < one.count, b < other.count {
      frames += max(0, min(one[a].end, other[b].end) - max(one[a].begin, other[b].begin))
      if one[a].end < other[b].end { a += 1 } else { b += 1 }
    }
    return frames
  }

  private static func length(_ sounds: [Sound]) -> Int { sounds.reduce(0) { $0 + $1.end - $1.begin } }

  /// Sounds of each identity, in the order of their beginnings.
  private static func sounds(_ talkers: [Sidecar.Talker], until frames: Int, edge: Int, late: Int) -> [Sound]
  {
    var (open, done): ([Int: Sound], [Sound]) = ([:], [])
    for talker in talkers where talker.frame < frames {
      if talker.isActive {
        if open[talker.identity] != nil {
          open[talker.identity]?.level = talker.level
          open[talker.identity]?.confidence = talker.confidence ?? 1
          continue
        }
        guard talker.frame < frames - late, let look = talker.look else { continue }
        open[talker.identity] = Sound(
          identity: talker.identity, begin: talker.frame, end: frames, look: look, level: talker.level,
          confidence: talker.confidence ?? 1)
      } else if var sound = open.removeValue(forKey: talker.identity) {
        sound.end = talker.frame >= frames - edge ? frames : max(sound.begin, talker.frame)
        sound.look = talker.look ?? sound.look
        if talker.look != nil { sound.level = talker.level }
        sound.confidence = talker.confidence ?? sound.confidence
        done.append(sound)
      }
    }
    return (done + open.values).sorted { ($0.begin, $0.identity) < ($1.begin, $1.identity) }
  }

  private static func joined(_ sounds: [Sound], pause: Int) -> [Sound] {
    var (last, joined): ([Int: Int], [Sound]) = ([:], [])
    for sound in sounds {
      if let n = last[sound.identity], sound.begin - joined[n].end < pause {
        joined[n] = joined[n].joined(sound)
      } else {
        last[sound.identity] = joined.count
        joined.append(sound)
      }
    }
    return joined
  }
}
