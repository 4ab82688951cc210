import Acoustics
import Adaptation
import Foundation
import Numerics
import Presets
import Realtime
import Rendering
import Settings
import TestSupport
import Testing

/// Sound whose truth is known: voices of tones from one direction in the free field, with pauses; and gusts, independent at
/// each microphone. Filters are the same in a rendering of sound plus wind and in one of sound minus wind, but for little:
/// half the sum of both is the sound in the output, half the difference the wind.
@Suite("Wind taken out") struct WindTests {
  private static let device = try! PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(
    named: "respeaker-4mic-hat")
  private static let sets = try! FilterSets(device: device, sampleRate: 48_000)
  private static let model = try! AdaptiveModel(device, sampleRate: 48_000, findsDirections: false)
  private static let positions = device.microphones.map(\.position)
  private static let count = 3 * 48_000

  private static func selection(_ pattern: PolarPattern) -> Selection {
    Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: .portrait)
  }

  /// A voice in front of the data source: `[microphone][frame]`.
  private static let voice = voice(0)

  /// A voice at an azimuth in degrees, left positive.
  private static func voice(_ azimuth: Double) -> [[Float]] {
    let source = try! device.dataSource(named: "Front")
    let a = azimuth * .pi / 180
    let forward = device.frame(of: source, .portrait).device(fromHead: [cos(a), sin(a), 0])
    return positions.map { position in
      let delay = (position.x * forward.x + position.y * forward.y + position.z * forward.z) / 343
      return (0..<count).map { n in
        let time = Double(n) / 48_000
        let syllable = max(0, sin(2 * .pi * 1.7 * time)) * (0.5 + 0.5 * sin(2 * .pi * 4.1 * time))
        let tones = stride(from: 1.0, through: 25, by: 1).reduce(0) { sum, harmonic in
          sum + cos(2 * .pi * 113 * harmonic * (time + delay) + harmonic * harmonic) / harmonic
        }
        return Float(0.03 * syllable * tones)
      }
    }
  }

  /// Noise that falls by 6 dB per octave from 60 Hz on, in gusts of a tenth of a second, as loud as the voice at a microphone.
  /// - Parameter calm: by how many decibels it is softer at the first microphone.
  private static func wind(calm: Double) -> [[Float]] {
    var noise = SeededNoise(seed: 11)
    let target = band(voice[0])
    return positions.indices.map { m in
      let white = noise.samples(count, amplitude: 1)
      let gusts = noise.samples(count / 4800 + 2, amplitude: 1)
      var (slow, output): (Float, [Float]) = (0, [])
      for n in 0..<count {
        slow += 0.0078 * (white[n] - slow)
        let (at, part) = (n / 4800, Float(n % 4800) / 4800)
        output.append(slow * exp(0.7 * ((1 - part) * gusts[at] + part * gusts[at + 1])))
      }
      let scale = Float((target / band(output)).squareRoot() * pow(10, (m == 0 ? -calm : 0) / 20))
      return output.map { scale * $0 }
    }
  }

  /// The energy from 90 to 710 Hz, by filters of the first order, each three times: sound above is not the wind's alone.
  private static func band(_ signal: [Float]) -> Double {
    var (low, high, sum): (SIMD4<Float>, SIMD4<Float>, Double) = (.zero, .zero, 0)
    for sample in signal {
      var sample = sample
      for n in 0..<3 {
        low[n] += 0.0117 * (sample - low[n])
        high[n] += 0.0887 * (sample - low[n] - high[n])
        sample = high[n]
      }
      sum += Double(sample * sample)
    }
    return sum
  }

  /// `[output][frame]`
  private static func render(_ sound: [[Float]], _ pattern: PolarPattern, wind: Double) throws -> [[Float]] {
    try render(sound, selection(pattern), wind: wind)
  }

  private static func render(
    _ sound: [[Float]], _ played: Selection, wind: Double, onDemand: FilterChoice = FilterChoice(),
    _ turns: [FilterSets.Substitution] = []
  ) throws -> [[Float]] {
    var parts = [sound]
    var outputs: [[Float]] = []
    let main = FilterSets.Feed(FeedSetting(selection(.omnidirectional)))
    var feed = FilterSets.Feed(FeedSetting(name: "heard", played, wind: wind))
    feed.substitutions = turns
    try sets.render(
      [main, feed], of: device, onDemand: onDemand, model: wind > 0 ? model : nil, period: 128,
      next: { parts.popLast() },
      write: { feeds in
        if outputs.isEmpty { outputs = [[Float]](repeating: [], count: feeds[1].count) }
        for (n, output) in feeds[1].enumerated() { outputs[n] += output }
      })
    return outputs
  }

  /// Energies of the voice and the wind in the outputs.
  private static func energies(_ wind: [[Float]], _ pattern: PolarPattern, strength: Double) throws -> (
    voice: Double, wind: Double
  ) {
    let plus = zip(voice, wind).map { zip($0, $1).map { $0 + $1 } }
    let minus = zip(voice, wind).map { zip($0, $1).map { $0 - $1 } }
    let (a, b) = (try render(plus, pattern, wind: strength), try render(minus, pattern, wind: strength))
    var (voice, rest) = (0.0, 0.0)
    for (a, b) in zip(a, b) {
      voice += band(zip(a, b).map { 0.5 * ($0 + $1) })
      rest += band(zip(a, b).map { 0.5 * ($0 - $1) })
    }
    return (voice, rest)
  }

  @Test("above 900 Hz, a voice at 60° keeps its interaural delays within 20 µs beside wind")
  func image() throws {
    let (voice, wind) = (Self.voice(60), Self.wind(calm: 0))
    let halves = try [Float(1), -1].map { sign in
      try Self.render(zip(voice, wind).map { zip($0, $1).map { $0 + sign * $1 } }, .stereo, wind: 1)
    }
    let heard = zip(halves[0], halves[1]).map { zip($0, $1).map { 0.5 * ($0 + $1) } }
    let linear = try Self.render(voice, .stereo, wind: 0)
    func delay(_ ears: [[Float]], _ frequency: Double) -> Double {
      let sums = ears.map { ear in
        ear.enumerated().reduce(into: SIMD2<Double>.zero) { sum, sample in
          let angle = 2 * .pi * frequency * Double(sample.offset) / 48_000
          sum += Double(sample.element) * SIMD2(cos(angle), -sin(angle))
        }
      }
      let (l, r) = (sums[0], sums[1])
      return atan2(l.y * r.x - l.x * r.y, l.x * r.x + l.y * r.y) / (2 * .pi * frequency) * 1e6
    }
    for harmonic in [8.0, 10, 12, 16] {
      let (before, after) = (delay(linear, 113 * harmonic), delay(heard, 113 * harmonic))
      let change = (after - before).remainder(dividingBy: 1e6 / (113 * harmonic))
      #expect(abs(change) < 20, "\(113 * harmonic) Hz: \(before) > \(after) µs")
      #expect(abs(before) > 100)
    }
  }

  @Test(
    "wind as loud as a voice comes out softer relative to it, of one output as of two; the voice stays",
    arguments: [(PolarPattern.stereo, 0.0), (.stereo, 10), (.cardioid, 0), (.cardioid, 10)])
  func wind(pattern: PolarPattern, calm: Double) throws {
    let wind = Self.wind(calm: calm)
    let linear = try Self.energies(wind, pattern, strength: 0)
    let cleaned = try Self.energies(wind, pattern, strength: 1)
    let gain = 10 * log10(cleaned.voice / cleaned.wind * linear.wind / linear.voice)
    let voice = 10 * log10(cleaned.voice / linear.voice)
    print(
      String(
        format: "wind: \(pattern.rawValue), one microphone \(calm) dB calm: %.2f dB, voice %.1f dB", gain,
        voice))
    #expect(gain > 12 && voice > -3 && voice < 1, "\(gain) dB, voice \(voice) dB")
  }

  @Test("wind 10 dB above a voice in stereo: what the weights leave of it is lowered, most without the voice")
  func postfilter() throws {
    let wind = Self.wind(calm: 0).map { $0.map { $0 * 3.16 } }
    let (linear, cleaned) = (
      try Self.energies(wind, .stereo, strength: 0), try Self.energies(wind, .stereo, strength: 1)
    )
    let gain = 10 * log10(cleaned.voice / cleaned.wind * linear.wind / linear.voice)
    let voice = 10 * log10(cleaned.voice / linear.voice)
    func alone(_ strength: Double) throws -> Double {
      try Self.render(wind, .stereo, wind: strength).reduce(0) { $0 + Self.band($1) }
    }
    let softer = 10 * log10(try alone(0) / alone(1))
    // The weights alone: 12.5, −1.9 and 15.5 dB.
    #expect(gain > 13.5 && voice > -2.5 && softer > 17, "\(gain) dB, voice \(voice) dB, alone \(softer) dB")
  }

  @Test("half the strength takes out some of the wind, and no more than all of it")
  func half() throws {
    let wind = Self.wind(calm: 0)
    let ratios = try [0, 0.5, 1].map { strength in
      let energies = try Self.energies(wind, .cardioid, strength: strength)
      return 10 * log10(energies.voice / energies.wind)
    }
    #expect(ratios[1] > ratios[0] + 3 && ratios[2] > ratios[1] + 3, "\(ratios)")
  }

  @Test(
    "without wind the linear filters play, bit for bit: a voice, a low tone, diffuse sound, the microphones' own noise and offsets"
  )
  func calm() throws {
    var noise = SeededNoise(seed: 3)
    let own = Self.positions.map { _ in noise.samples(48_000, amplitude: 3e-4) }
    let tone = Self.positions.map { position in
      (0..<48_000).map { (n: Int) -> Float in
        let time: Double = Double(n) / 48_000 + position.x / 343
        return Float(0.1 * sin(2 * .pi * 97 * time))
      }
    }
    let diffuse = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      fibonacciSphere(60), sines: 100, seconds: 1, noise: &noise)
    // Each microphone is constantly off zero by its own.
    let offset = zip(diffuse, [0.02, -0.004, 0, 0.001] as [Float]).map { sound, offset in
      sound.map { $0 + offset }
    }
    // The first microphone is 25 dB too soft, and hears nothing but its own noise.
    var soft = diffuse
    let hiss = noise.samples(48_000, amplitude: 1)
    let scale = Float((Self.band(diffuse[1]) / Self.band(hiss)).squareRoot() * pow(10, -25.0 / 20))
    soft[0] = hiss.map { $0 * scale }
    for sound in [Self.voice, own, tone, diffuse, offset, soft] {
      for pattern in [PolarPattern.stereo, .cardioid] {
        #expect(try Self.render(sound, pattern, wind: 1) == Self.render(sound, pattern, wind: 0))
      }
    }
  }

  @Test(
    "low sound that reaches all microphones stays within 0.1 dB: a kettle close by, a bass, a car that passes",
    arguments: [
      (100.0...8000.0, 0.4, 0.0), (41.2...330.0, 2, 0), (25...500, 5, 20),
    ])
  func coherent(hertz: ClosedRange<Double>, distance: Double, speed: Double) throws {
    var noise = SeededNoise(seed: 8)
    let draws = noise.samples(160, amplitude: 1).map { Double($0) }
    let tones = (0..<80).map { n in
      let part = (Double(n) + 0.5 + 0.4 * draws[2 * n]) / 80
      return (
        rate: 2 * .pi * hertz.lowerBound * pow(hertz.upperBound / hertz.lowerBound, part),
        phase: .pi * draws[2 * n + 1]
      )
    }
    let sound = Self.positions.map { position in
      (0..<72_000).map { (n: Int) -> Float in
        let time = Double(n) / 48_000
        let away = SIMD3(speed * (time - 0.75), distance, 0.3) - position
        let metres = (away * away).sum().squareRoot()
        let sum = tones.reduce(0) { $0 + sin($1.rate * (time - metres / 343) + $1.phase) }
        return Float(0.01 * distance / metres * sum)
      }
    }
    for pattern in [PolarPattern.stereo, .cardioid] {
      let energies = try [0, 1.0].map { strength in
        try Self.render(sound, pattern, wind: strength).reduce(0) { $0 + Self.band($1) }
      }
      #expect(abs(10 * log10(energies[1] / energies[0])) < 0.1, "\(pattern)")
    }
  }

  @Test("after wind the linear filters play again, bit for bit, within two seconds")
  func afterwards() throws {
    var sound = Self.voice
    let wind = Self.wind(calm: 0)
    for m in sound.indices { for n in 0..<24_000 { sound[m][n] += wind[m][n] } }
    let (cleaned, linear) = (
      try Self.render(sound, .stereo, wind: 1), try Self.render(sound, .stereo, wind: 0)
    )
    #expect(cleaned[0][..<24_000] != linear[0][..<24_000])
    for n in 0..<2 { #expect(cleaned[n][120_000...] == linear[n][120_000...]) }
  }

  @Test("digital silence after wind counts no late adaptation, and returns to the linear filters")
  func silence() throws {
    let wind = Self.wind(calm: 0).map { $0[..<48_000] + [Float](repeating: 0, count: 48_000) }
    let engine = Self.sets.makeEngine(adapts: true)
    let base = try Self.sets.filters(for: Self.selection(.cardioid), of: Self.device)
    engine.start(with: base)
    let adaptive = try #require(AdaptiveFilters(engine))
    let target = try #require(
      try Self.model.target(
        FeedSetting(Self.selection(.cardioid), wind: 1), whole: base, delayFrames: Self.sets.bank.delayFrames)
    )
    adaptive.start([0: target])
    var run = OfflineRun(engine, microphones: wind.map(Array.init))
    run.afterPeriod = adaptive.work
    run.run(wholePeriodsTo: 48_000, period: 128)
    #expect(try #require(engine.stream).isAdapted)
    run.run(wholePeriodsTo: 96_000, period: 128)
    #expect(engine.statistics.lateAdaptations == 0 && adaptive.state == .adapting)
    #expect(try !#require(engine.stream).isAdapted)
  }

  @Test("the axis of one output stays where it is while a listener's head turns")
  func turnedHead() throws {
    func kept(_ pose: Pose) throws -> [Float] {
      var selection = Self.selection(.cardioid)
      selection.pose = pose
      let whole = try Self.sets.filters(for: Self.selection(.cardioid), of: Self.device)
      let target = try #require(
        try Self.model.target(
          FeedSetting(selection, wind: 1), whole: whole, delayFrames: Self.sets.bank.delayFrames))
      return try #require(target.wind).kept
    }
    #expect(try kept(Pose(roll: 20, yaw: 70)) == kept(.none))
  }

  @Test(
    "wind is taken out of turned B-format, too, whose filters are mixed: they are the same set whenever they are asked for"
  )
  func mixed() throws {
    var selection = Self.selection(.ambix1)
    var choice = FilterChoice()
    for key in FilterChoice.keys(for: selection, of: Self.device, sampleRate: 48_000, without: []) {
      let own = try #require(try Self.device.ownDevice(of: selection))
      choice.keep(try FilterSets(device: own, sampleRate: 48_000), for: key)
    }
    selection.pose = Pose(yaw: 33)
    let first = try choice.filters(for: selection, of: Self.device, Self.sets)
    #expect(try choice.filters(for: selection, of: Self.device, Self.sets) === first)
    var other = selection
    other.pose = Pose(yaw: 34)
    #expect(try choice.filters(for: other, of: Self.device, Self.sets) !== first)
    let wind = Self.wind(calm: 0)
    let cleaned = try Self.render(wind, selection, wind: 1, onDemand: choice)
    let linear = try Self.render(wind, selection, wind: 0, onDemand: choice)
    #expect(cleaned[0][48_000...] != linear[0][48_000...])
  }

  @Test(
    "wind stays away while the head turns by 5° every 50 ms: within 3 dB of what is removed while it rests")
  func turning() throws {
    var selection = Self.selection(.ambix1)
    var choice = FilterChoice()
    for key in FilterChoice.keys(for: selection, of: Self.device, sampleRate: 48_000, without: []) {
      let own = try #require(try Self.device.ownDevice(of: selection))
      choice.keep(try FilterSets(device: own, sampleRate: 48_000), for: key)
    }
    selection.follows = [.yaw]
    let wind = Self.wind(calm: 0)
    /// By how many decibels wind is softer in all channels, in the two seconds in which the head turns.
    func removed(turning: Bool) throws -> Double {
      let turns = (0..<(turning ? 40 : 1)).map { step in
        var turned = selection
        (turned.follows, turned.pose) = ([], Pose(yaw: Double(5 * step)))
        return FilterSets.Substitution(frame: 36_000 + 2400 * step, filters: nil, turned: turned)
      }
      let energies = try [0, 1.0].map { strength in
        try Self.render(wind, selection, wind: strength, onDemand: choice, turns)
          .reduce(0) { $0 + Self.band(Array($1[36_000..<132_000])) }
      }
      return 10 * log10(energies[0] / energies[1])
    }
    let (still, turning) = (try removed(turning: false), try removed(turning: true))
    print(String(format: "wind removed: %.1f dB at rest, %.1f dB while the head turns", still, turning))
    #expect(still > 10 && turning > still - 3, "\(still), \(turning) dB")
  }

  @Test("more microphones than directions are found with lose wind, too")
  func many() throws {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    let device = try library.device(named: "uma16")
    #expect(device.microphones.count > 8)
    let sets = try FilterSets(device: device, sampleRate: 48_000)
    let model = try AdaptiveModel(device, sampleRate: 48_000, findsDirections: true)
    var noise = SeededNoise(seed: 4)
    let sound = device.microphones.map { _ in
      var slow: Float = 0
      return noise.samples(48_000, amplitude: 1).map { sample -> Float in
        slow += 0.0078 * (sample - slow)
        return slow
      }
    }
    func energies(_ wind: Double) throws -> [Double] {
      var parts = [sound]
      var outputs = [[Float]](repeating: [], count: 2)
      try sets.render(
        [
          FilterSets.Feed(
            FeedSetting(
              Selection(dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait), wind: wind))
        ],
        of: device, model: wind > 0 ? model : nil, period: 256, next: { parts.popLast() },
        write: { for n in 0..<2 { outputs[n] += $0[0][n] } })
      return outputs.map(Self.band)
    }
    let (linear, cleaned) = (try energies(0), try energies(1))
    for (before, after) in zip(linear, cleaned) { #expect(10 * log10(before / after) > 12) }
  }
}
