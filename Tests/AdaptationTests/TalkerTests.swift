import Acoustics
import Adaptation
import Foundation
import Manifolds
import Numerics
import Presets
import Realtime
import Rendering
import Settings
import TestSupport
import Testing

/// Oracles: plane waves in the free field, on their own positions of the microphones.
@Suite("Talkers") struct TalkerTests {
  private static let device = try! PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(
    named: "ring7")
  private static let source = try! device.dataSource(named: "Front")
  private static let frame = device.frame(of: source, .portrait)
  private static let array = ArrayTable(try! manifold(for: device), sampleRate: 48_000)
  private static let positions = device.microphones.map(\.position)
  private static let rate = 48_000

  private static func direction(_ azimuth: Double) -> SIMD3<Double> {
    let a = azimuth * .pi / 180
    return frame.device(fromHead: [cos(a), sin(a), 0])
  }

  private static func azimuth(_ talker: TrackedTalker) -> Double {
    let head = frame.head(fromDevice: talker.direction)
    return atan2(head.y, head.x) * 180 / .pi
  }

  /// Syllables: bursts of 120 ms that decay, every 200 ms, from a plane wave.
  private static func speech(_ azimuth: Double, seconds: Double, seed: UInt64) -> [[Float]] {
    var noise = SeededNoise(seed: seed)
    let wave = PlaneWaveSound(sampleRate: Double(rate), positions: positions).samples(
      [direction(azimuth)], sines: 400, seconds: seconds, noise: &noise)
    let start = Int(seed % 5) * 1900
    return wave.map { samples in
      samples.enumerated().map { n, sample in
        let phase = (n + start) % (rate / 5)
        return phase < rate * 12 / 100 ? 0.1 * sample * exp(-Float(phase) / Float(rate / 25)) : 0
      }
    }
  }

  private static func noise(seconds: Double, amplitude: Float) -> [[Float]] {
    var noise = SeededNoise(seed: 99)
    return positions.map { _ in noise.samples(Int(seconds * Double(rate)), amplitude: amplitude) }
  }

  private static func sum(_ parts: [[Float]]...) -> [[Float]] {
    parts[0].indices.map { m in
      (0..<(parts.map { $0[m].count }.max()!)).map { n in
        parts.reduce(0) { $0 + (n < $1[m].count ? $1[m][n] : 0) }
      }
    }
  }

  /// Who is told every 100 ms.
  /// - Parameter plane: across which the tracker looked before the sound began.
  private static func track(_ sound: [[Float]], after plane: SIMD3<Double> = frame.up.vector)
    -> [[TrackedTalker]]
  {
    let finder = DirectionFinder(array, up: frame.up.vector)
    let tracker = TalkerTracker(finder, plane: plane)
    if plane != frame.up.vector { tracker.look(across: frame.up.vector) }
    var told: [[TrackedTalker]] = []
    for start in stride(from: 0, to: sound[0].count - finder.hop + 1, by: finder.hop) {
      let blocks = sound.map { Array($0[start..<start + finder.hop]) }
      tracker.take(finder.append(blocks), of: finder)
      guard start + finder.hop >= (told.count + 1) * rate / 10 else { continue }
      let talkers = tracker.talkers
      told.append(talkers.indices.compactMap { talkers[$0] })
    }
    return told
  }

  @Test("a tracker that looked across another plane, as another data source has it, finds the same talkers")
  func otherPlane() {
    let speech = Self.sum(Self.speech(20, seconds: 2, seed: 3), Self.noise(seconds: 2, amplitude: 1e-4))
    let (told, expected) = (Self.track(speech, after: Self.frame.forward.vector), Self.track(speech))
    #expect(!told.last!.isEmpty && told.map { $0.map(\.direction) } == expected.map { $0.map(\.direction) })
  }

  @Test("a talker is found within half a second and 3°, with its level", arguments: [-150.0, -20, 75])
  func one(azimuth: Double) throws {
    let speech = Self.speech(azimuth, seconds: 2, seed: 3)
    let told = Self.track(Self.sum(speech, Self.noise(seconds: 2, amplitude: 1e-4)))
    for talkers in told[5...] {
      try #require(talkers.count == 1)
      #expect(abs(remainder(Self.azimuth(talkers[0]) - azimuth, 360)) < 3)
      #expect(talkers[0].identity == 1 && talkers[0].isActive && talkers[0].confidence > 0.7)
    }
    // Of a syllable and the pause after it.
    let power = speech[0].reduce(0) { $0 + Double($1) * Double($1) } / Double(speech[0].count)
    let loudest = told[5...].map { $0[0].level }.max()!
    #expect(loudest > 10 * log10(power) && loudest < 10 * log10(power) + 8)
  }

  @Test("two who speak at once, 40° apart, are two, each within 5°")
  func two() throws {
    let told = Self.track(
      Self.sum(
        Self.speech(10, seconds: 3, seed: 3), Self.speech(50, seconds: 3, seed: 6),
        Self.noise(seconds: 3, amplitude: 1e-4)))
    for talkers in told[10...] {
      let azimuths = talkers.filter(\.isActive).map(Self.azimuth).sorted()
      try #require(azimuths.count == 2)
      #expect(abs(azimuths[0] - 10) < 5 && abs(azimuths[1] - 50) < 5)
    }
  }

  @Test("who speaks from one place is one talker, however long the silence; who speaks elsewhere is another")
  func identity() throws {
    let silence = Self.noise(seconds: 4, amplitude: 1e-5)
    let (a, b) = (Self.speech(60, seconds: 1.5, seed: 3), Self.speech(-60, seconds: 1, seed: 4))
    func after(_ pause: Double, _ second: [[Float]]) -> [[Float]] {
      let quiet = Self.noise(seconds: pause, amplitude: 1e-5)
      return a.indices.map { a[$0] + quiet[$0] + second[$0] + silence[$0][..<4800] }
    }
    func last(_ sound: [[Float]]) -> [Int] {
      // Half of the last voice.
      Self.track(sound).dropLast(4).last!.filter(\.isActive).map(\.identity)
    }
    #expect(last(after(4, a)) == [1])
    #expect(last(after(12, a)) == [1])
    #expect(last(after(4, b)) == [2])
    // Nobody is told 5.5 s after.
    #expect(Self.track(after(5.5, Self.noise(seconds: 0.2, amplitude: 1e-5))).last!.isEmpty)
  }

  @Test("who walks past the place of somebody silent keeps the number, and so does who speaks there again")
  func walkPast() throws {
    func quiet(_ seconds: Double) -> [[Float]] { Self.noise(seconds: seconds, amplitude: 1e-5) }
    let seated = Self.speech(30, seconds: 1.5, seed: 3)
    // A syllable every 3°: 15° a second.
    let walk = (0..<35).map { Self.speech(-25 + 3 * Double($0), seconds: 0.2, seed: 10 + 5 * UInt64($0)) }
    let parts = [seated, quiet(6)] + walk + [quiet(1), seated]
    let told = Self.track(seated.indices.map { m in parts.flatMap { $0[m] } })
    let walking = told[80..<145].map { $0.filter(\.isActive).map(\.identity) }
    #expect(walking.allSatisfy { $0 == [2] }, "\(walking)")
    #expect(told.dropLast().last!.filter(\.isActive).map(\.identity) == [1])
  }

  @Test("reflections from the ceiling and the floor at a talker's azimuth are no talkers of a flat array")
  func flat() throws {
    func part(_ elevation: Double, _ seed: UInt64, delay: Int, gain: Float) -> [[Float]] {
      let a = (60 * Double.pi / 180, elevation * .pi / 180)
      let direction = Self.frame.device(fromHead: [cos(a.0) * cos(a.1), sin(a.0) * cos(a.1), sin(a.1)])
      var noise = SeededNoise(seed: seed)
      let wave = PlaneWaveSound(sampleRate: Double(Self.rate), positions: Self.positions).samples(
        [direction], sines: 300, seconds: 3, noise: &noise)
      return wave.map { samples in
        samples.indices.map { n in
          let phase = (n + delay) % 9600
          return phase < 6000 ? gain * samples[n] * exp(-Float(phase) / 2000) : 0
        }
      }
    }
    let told = Self.track(
      Self.sum(
        part(0, 3, delay: 0, gain: 0.1), part(55, 4, delay: 4800, gain: 0.1),
        Self.noise(seconds: 3, amplitude: 1e-4)))
    for talkers in told[10...] {
      #expect(talkers.count == 1 && abs(Self.azimuth(talkers[0]) - 60) < 5, "\(talkers)")
    }
  }

  @Test("after a door slam 45 dB above a talker, that talker is found within 2.5 s")
  func slam() throws {
    var slam = Self.speech(-120, seconds: 0.3, seed: 4)
    for m in slam.indices { for n in slam[m].indices { slam[m][n] *= 30 } }
    let speech = Self.speech(40, seconds: 4, seed: 3).map { $0.map { 0.17 * $0 } }
    let told = Self.track(Self.sum(slam, speech, Self.noise(seconds: 4, amplitude: 1e-5)))
    for talkers in told[28...] {
      #expect(talkers.contains { $0.isActive && abs(Self.azimuth($0) - 40) < 5 }, "\(talkers)")
    }
  }

  @Test("noise that differs between the microphones, and sound from everywhere, is nobody")
  func nobody() {
    #expect(Self.track(Self.noise(seconds: 3, amplitude: 0.1)).allSatisfy { $0.isEmpty })
    var noise = SeededNoise(seed: 11)
    let diffuse = PlaneWaveSound(sampleRate: Double(Self.rate), positions: Self.positions).samples(
      fibonacciSphere(150), sines: 20, seconds: 3, noise: &noise)
    #expect(Self.track(diffuse).allSatisfy { $0.isEmpty })
  }

  @Test("after 5 s of silence that is digital nobody is told, and who comes again is known")
  func silence() {
    let speech = Self.speech(30, seconds: 1, seed: 3)
    let zeros = [[Float]](repeating: [Float](repeating: 0, count: 6 * Self.rate), count: 7)
    let told = Self.track(speech.indices.map { speech[$0] + zeros[$0] + speech[$0] })
    #expect(told[8].map(\.identity) == [1])
    #expect(told[30].map(\.isActive) == [false])
    #expect(told[65].isEmpty)
    #expect(told.last!.map(\.identity) == [1])
  }

  /// Who an engine lists from its first frame on, if it is asked for that after some seconds.
  /// - Parameter incomplete: the seconds in which it knows that a microphone is missing.
  private static func list(
    _ sound: [[Float]], clock: Int = 0, after seconds: Int, of total: Int, incomplete: Range<Int>? = nil
  ) throws -> [TalkerChange] {
    let engine = Engine(
      microphones: sound.count, taps: 64, sampleRate: Double(rate), instructionSet: .baseline, adapts: true)
    let filters = FilterSet(outputs: 2, microphones: sound.count, taps: 64)
    engine.start(with: filters)
    let adaptive = try #require(AdaptiveFilters(engine))
    let feed = FeedSetting(
      Selection(dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait))
    let target = try AdaptiveModel(device, sampleRate: rate).target(feed, whole: filters, delayFrames: 0)
    adaptive.start([0: try #require(target)])
    var run = OfflineRun(engine, microphones: sound, firstFrame: clock)
    run.afterPeriod = adaptive.work
    run.run(wholePeriodsTo: seconds * rate, period: 256)
    adaptive.listTalkers(from: 0)
    if let incomplete {
      run.run(wholePeriodsTo: incomplete.lowerBound * rate, period: 256)
      adaptive.setLacksMicrophone(true)
      run.run(wholePeriodsTo: incomplete.upperBound * rate, period: 256)
      adaptive.setLacksMicrophone(false)
    }
    run.run(wholePeriodsTo: total * rate, period: 256)
    return adaptive.takeTalkers()
  }

  @Test("wind that nobody takes out any more is told no more, though talkers are still looked for")
  func windThatWas() throws {
    let engine = Engine(
      microphones: Self.device.microphones.count, taps: 64, sampleRate: Double(Self.rate),
      instructionSet: .baseline,
      adapts: true)
    let filters = FilterSet(outputs: 2, microphones: engine.microphones, taps: 64)
    engine.start(with: filters)
    let adaptive = try #require(AdaptiveFilters(engine))
    let model = try AdaptiveModel(Self.device, sampleRate: Self.rate)
    func target(wind: Double) throws -> AdaptiveFilters.Target {
      let feed = FeedSetting(
        Selection(dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait), wind: wind)
      return try #require(try model.target(feed, whole: filters, delayFrames: 0))
    }
    var noise = SeededNoise(seed: 4)
    let gusts = (0..<engine.microphones).map { _ in noise.samples(3 * Self.rate, amplitude: 0.1) }
    adaptive.start([0: try target(wind: 1)])
    var run = OfflineRun(engine, microphones: gusts)
    run.afterPeriod = adaptive.work
    run.run(wholePeriodsTo: Self.rate, period: 256)
    #expect(adaptive.presentWind != nil)
    adaptive.follow([0: try target(wind: 0)])
    run.run(wholePeriodsTo: 3 * Self.rate, period: 256)
    #expect(adaptive.presentWind == nil && adaptive.talkers != nil)
  }

  @Test("a list counts the engine's frames, wherever the server's clock began")
  func listed() throws {
    // The engine fades microphones in, and out where they stop dead.
    let speech = Self.sum(Self.speech(30, seconds: 3, seed: 3), Self.noise(seconds: 3, amplitude: 1e-5)).map {
      [Float](repeating: 0, count: 10_240) + $0
    }
    let changes = try Self.list(speech, after: 1, of: 2)
    #expect(!changes.isEmpty && changes.allSatisfy { (0..<2 * Self.rate).contains($0.frame) }, "\(changes)")
    // What was heard before it was asked for is the same as in a recording.
    let search = try TalkerSearch(Self.device, up: Self.frame.up, sampleRate: Self.rate)
    #expect(search.hear(speech.map { Array($0[..<(2 * Self.rate)]) }) == changes)
    // By whole periods of the analysis.
    #expect(try Self.list(speech, clock: 48_000_000 / 256 * 256, after: 1, of: 2) == changes)
  }

  @Test("who was heard before an invalid sample is listed, and keeps the number after it")
  func listedBeforeMute() throws {
    var speech = Self.speech(30, seconds: 7, seed: 3)
    speech[1][2 * Self.rate + 100] = .nan
    let changes = try Self.list(speech, after: 5, of: 7)
    let begun = changes.filter(\.talker.isActive)
    #expect(
      begun.contains { $0.frame < 2 * Self.rate } && begun.contains { $0.frame > 3 * Self.rate }, "\(changes)"
    )
    #expect(Set(changes.map(\.talker.identity)) == [1], "\(changes)")
  }

  @Test("nobody is listed while a microphone is missing; who was heard before keeps the number after it")
  func listedWithoutMicrophone() throws {
    var speech = Self.speech(30, seconds: 7, seed: 3)
    for n in 2 * Self.rate..<5 * Self.rate { speech[1][n] = 0 }
    let changes = try Self.list(speech, after: 1, of: 7, incomplete: 2..<5)
    #expect(Set(changes.map(\.talker.identity)) == [1], "\(changes)")
    let begun = changes.filter(\.talker.isActive).map(\.frame)
    #expect(begun.contains { $0 < 2 * Self.rate } && begun.contains { $0 > 5 * Self.rate - 9600 }, "\(begun)")
    #expect(!begun.contains { (2 * Self.rate + 9600..<5 * Self.rate - 9600).contains($0) }, "\(begun)")
  }

  @Test("what is found does not depend on where the blocks are cut")
  func alone() throws {
    let speech = Self.sum(
      Self.speech(60, seconds: 4, seed: 3), Self.speech(-60, seconds: 4, seed: 6),
      Self.noise(seconds: 4, amplitude: 1e-4))
    func search(_ sound: [[Float]], clock: Int, cut: Int) throws -> [TalkerChange] {
      let search = try TalkerSearch(Self.device, up: Self.frame.up, sampleRate: Self.rate, clock: clock)
      return stride(from: 0, to: sound[0].count, by: cut).flatMap { start in
        search.hear(sound.map { Array($0[start..<min($0.count, start + cut)]) })
      }
    }
    let all = try search(speech, clock: 5000, cut: 16_384)
    #expect(!all.isEmpty && Set(all.map(\.talker.identity)) == [1, 2])
    #expect(try search(speech, clock: 5000, cut: 1023) == all)
  }
}
