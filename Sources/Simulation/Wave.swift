import Acoustics
import Glibc

/// One way that a talker's voice takes to the device, straight or by a room's walls: plane waves there.
struct Wave: Sendable {
  let talker: Talker
  let image: Image?

  init(_ talker: Talker, image: Image? = nil) {
    self.talker = talker
    self.image = image
  }

  /// How long before a voice's start and after its end it may still be heard, in seconds: 5 m of array, and the
  /// ends of the interpolation at 8 kHz.
  static let margin = 0.03

  /// Where the sound comes from that leaves the talker `time` seconds after its start.
  func place(at time: Double) -> Place {
    let place = talker.path.place(at: time)
    return image?.place(of: place) ?? place
  }

  /// The greatest distance that the sound comes from, or a little more, in metres.
  var farthest: Double {
    if talker.path.isStill { return place(at: 0).distance ?? 0 }
    return talker.path.farthest + (image?.offset.length ?? 0)
  }

  /// Of amplitude, for sound from `place`: talker, walls and way.
  func gain(from place: Place) -> Double {
    talker.gain.amplitude * (image?.gain ?? 1) / (place.distance ?? 1)
  }

  /// Frames of a scene of `rate` in which the wave may be heard.
  /// - Parameter tail: frames that the body makes of one.
  func frames(rate: Int, tail: Int, count: Int) -> Range<Int> {
    let margin = Self.margin + Double(tail) / Double(rate)
    let nearest = talker.path.isStill ? (place(at: 0).distance ?? 0) : 0
    let first = max(0, Int(((talker.start - margin + nearest / speedOfSound) * Double(rate)).rounded(.down)))
    let last = Int(((talker.end + margin + farthest / speedOfSound) * Double(rate)).rounded(.up))
    return first..<max(first, min(count, last))
  }
}

/// What reaches the device's centre of a moving wave, frame by frame.
struct MovingWave: Sendable {
  /// Seconds after the voice's first sample at which what arrives was said, and how fast that goes by: above 1 for a
  /// talker that comes nearer.
  private let emissions: [Double]
  private let speeds: [Double]
  private let gains: [Double]
  let directions: [Direction]

  /// - Parameters:
  ///   - start: seconds after the scene's beginning of the first frame.
  ///   - count: frames.
  init(_ wave: Wave, rate: Int, start: Double, count: Int) {
    var emissions: [Double] = []
    var gains: [Double] = []
    var directions: [Direction] = []
    emissions.reserveCapacity(count)
    var said = start - wave.talker.start - (wave.place(at: 0).distance ?? 0) / speedOfSound
    for n in 0..<count {
      let time = start + Double(n) / Double(rate) - wave.talker.start
      // What is said at `said` arrives at said + distance / c. Talkers are slow, so that this closes in quickly.
      var place = wave.place(at: said)
      for _ in 0..<30 {
        let better = time - (place.distance ?? 0) / speedOfSound
        let isClose = abs(better - said) < 1e-10
        said = better
        place = wave.place(at: said)
        if isClose { break }
      }
      emissions.append(said)
      gains.append(wave.gain(from: place))
      directions.append(place.direction)
      said += 1 / Double(rate)
    }
    self.emissions = emissions
    self.gains = gains
    self.directions = directions
    speeds = emissions.indices.map { n in
      let (before, after) = (max(0, n - 1), min(count - 1, n + 1))
      return after > before
        ? (emissions[after] - emissions[before]) / Double(after - before) * Double(rate) : 1
    }
  }

  /// What a microphone at `position` hears in the free field.
  func heard(_ voice: BandlimitedSignal, at position: Position, rate: Int) -> [Float] {
    let times = emissions.indices.map { n in
      emissions[n] + speeds[n] * PlaneWave.lead(at: position, from: directions[n])
    }
    let heard = voice.sampled(rate: rate, at: times)
    return heard.indices.map { Float(gains[$0] * Double(heard[$0])) }
  }

  /// Frames between which the direction turns by so little that what a body does can be cross-faded, the first and
  /// the last among them.
  func knots() -> [Int] {
    let nearby = cos(3 * Double.pi / 180)
    var knots = [0]
    for n in directions.indices
    where directions[n].vector.dot(directions[knots.last!].vector) < nearby { knots.append(n) }
    if knots.last! != directions.count - 1 { knots.append(directions.count - 1) }
    return knots
  }
}
