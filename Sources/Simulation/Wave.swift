import Acoustics
import Glibc

/// One propagation path of a talker's voice, direct or reflected. It arrives at the device as a plane wave.
struct Wave: Sendable {
  let talker: Talker
  let image: ImageSource?

  /// How long it takes to add it to a microphone's signal, relative to others: its seconds, five times if it moves.
  var work: Double { talker.voice.duration * (talker.path.isStationary ? 1 : 5) }

  init(_ talker: Talker, image: ImageSource? = nil) {
    self.talker = talker
    self.image = image
  }

  /// Seconds by which a voice may reach a microphone before its start and after its end: the travel time over an array
  /// of 5 m, plus half the length of the interpolation kernel at 8 kHz.
  static let margin = 0.03

  /// The place from which the sound arrives that the talker emits `time` seconds after its start.
  func place(at time: Double) -> Place {
    let place = talker.path.place(at: time)
    return image?.place(of: place) ?? place
  }

  /// An upper bound of the distance of the source or its image, in metres.
  var maximumDistance: Double {
    if talker.path.isStationary { return place(at: 0).distance ?? 0 }
    return talker.path.maximumDistance + (image?.offset.length ?? 0)
  }

  /// Amplitude factor for sound from `place`: gain of the talker, reflection losses and 1/r spreading.
  func gain(from place: Place) -> Double {
    talker.gain.amplitude * (image?.gain ?? 1) / (place.distance ?? 1)
  }

  /// The frames of the scene in which the wave may reach a microphone.
  /// - Parameters:
  ///   - rate: sample rate in hertz.
  ///   - tail: length of the body's impulse responses in frames.
  ///   - count: length of the scene in frames.
  func frames(rate: Int, tail: Int, count: Int) -> Range<Int> {
    let margin = Self.margin + Double(tail) / Double(rate)
    let minimumDistance = talker.path.isStationary ? (place(at: 0).distance ?? 0) : 0
    let first = max(
      0, Int(((talker.start - margin + minimumDistance / speedOfSound) * Double(rate)).rounded(.down)))
    let last = Int(((talker.end + margin + maximumDistance / speedOfSound) * Double(rate)).rounded(.up))
    return first..<max(first, min(count, last))
  }
}

/// The wave of a moving talker as it arrives at the device's centre, frame by frame.
struct MovingWave: Sendable {
  /// Emission time of the sound that arrives in each frame, in seconds after the voice's first sample.
  private let emissionTimes: [Double]
  /// Derivative of the emission time with respect to the arrival time: above 1 for an approaching talker.
  private let dopplerFactors: [Double]
  private let gains: [Double]
  let directions: [Direction]

  /// - Parameters:
  ///   - rate: sample rate in hertz.
  ///   - start: time of the first frame, in seconds after the beginning of the scene.
  ///   - count: number of frames.
  init(_ wave: Wave, rate: Int, start: Double, count: Int) {
    var emissionTimes: [Double] = []
    var gains: [Double] = []
    var directions: [Direction] = []
    emissionTimes.reserveCapacity(count)
    var emission = start - wave.talker.start - (wave.place(at: 0).distance ?? 0) / speedOfSound
    for n in 0..<count {
      let time = start + Double(n) / Double(rate) - wave.talker.start
      // Solves emission + distance(emission) / c = time by fixed-point iteration. It converges quickly because talkers
      // move much more slowly than sound.
      var place = wave.place(at: emission)
      for _ in 0..<30 {
        let next = time - (place.distance ?? 0) / speedOfSound
        let hasConverged = abs(next - emission) < 1e-10
        emission = next
        place = wave.place(at: emission)
        if hasConverged { break }
      }
      emissionTimes.append(emission)
      gains.append(wave.gain(from: place))
      directions.append(place.direction)
      emission += 1 / Double(rate)
    }
    self.emissionTimes = emissionTimes
    self.gains = gains
    self.directions = directions
    dopplerFactors = emissionTimes.indices.map { n in
      let (before, after) = (max(0, n - 1), min(count - 1, n + 1))
      return after > before
        ? (emissionTimes[after] - emissionTimes[before]) / Double(after - before) * Double(rate) : 1
    }
  }

  /// The free-field signal of a microphone at `position`.
  /// - Parameter capsule: nil for an omnidirectional one.
  func heard(
    _ voice: BandlimitedSignal, at position: Position, by capsule: Capsule?, rate: Int
  ) -> [Float] {
    let times = emissionTimes.indices.map { n in
      emissionTimes[n] + dopplerFactors[n] * PlaneWave.lead(at: position, from: directions[n])
    }
    let samples = voice.sampled(rate: rate, at: times)
    return samples.indices.map { n in
      let sensitivity = capsule?.sensitivity(from: directions[n].vector) ?? 1
      return Float(gains[n] * sensitivity * Double(samples[n]))
    }
  }

  /// Frame indices for cross-fading the body's impulse responses, the first and last frame included. Between two of
  /// them the direction turns by little more than 3°.
  func knots() -> [Int] {
    let nearby = cos(3 * Double.pi / 180)
    var knots = [0]
    for n in directions.indices
    where directions[n].vector.dot(directions[knots.last!].vector) < nearby { knots.append(n) }
    if knots.last! != directions.count - 1 { knots.append(directions.count - 1) }
    return knots
  }
}
