import Acoustics
import Adaptation
import FilterBanks
import FilterDesign
import Foundation
import HeadResponses
import Numerics
import Presets
import Realtime
import Rendering
import Settings
import TestSupport
import Testing

/// Oracles: plane waves in the free field and the head's responses, both without the tables under test.
@Suite("Stereo that follows the sound") struct AdaptationTests {
  private static let device = try! PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(
    named: "respeaker-4mic-hat")
  private static let selection = Selection(
    dataSource: "Front", polarPattern: .stereo, inputOrientation: .portrait)
  private static let source = try! device.dataSource(named: "Front")
  private static let frame = device.frame(of: source, .portrait)
  private static let positions = device.microphones.map(\.position)
  private static let sets = try! FilterSets(device: device, sampleRate: 48_000)
  private static let base = try! sets.filters(for: selection, of: device)
  private static let delay = sets.bank.delayFrames
  private static let model = try! AdaptiveModel(device, sampleRate: 48_000)
  private static let ears = try! model.target(
    FeedSetting(selection, adaptation: 1), whole: base, delayFrames: delay)!.ears!

  @Test("more outputs take more time to write filters for, and the analysis once")
  func load() {
    let load = AdaptationLoad(analysis: 0.1, writing: 0.06)
    #expect(load.adding(6, to: 3).total == 0.1 + 0.18)
    #expect(load.adding(0, to: 3).total == load.total)
  }

  /// Percent of a Zen 3 core, from `pinna bench --following`. Seven microphones take 12.4 there, and 5.9 on Zen 4.
  @Test(
    "what feeds are expected to take is within a third of what they do, and only far too many outputs are beyond the bound",
    arguments: [(5, 2, 8.3), (7, 2, 12.4), (16, 2, 27.6), (32, 1, 29), (32, 2, 39), (64, 1, 56.7)])
  func expectedLoad(microphones: Int, outputs: Int, percent: Double) {
    func load(_ outputs: [Int], findsDirections: Bool = true) -> AdaptationLoad {
      .expected(microphones: microphones, taps: 256, outputs: outputs, findsDirections: findsDirections)
    }
    let one = load([outputs])
    #expect((0.67...1.33).contains(one.total / (percent / 100 * 5.9 / 12.4)), "\(one)")
    #expect(one.total < AdaptationLoad.most)
    // The analysis is shared, and without directions it is shorter.
    let two = load([outputs, outputs])
    #expect(two.analysis == one.analysis && two.writing == 2 * one.writing)
    #expect(load([outputs], findsDirections: false).analysis < one.analysis)
    #expect((load([100]).total > AdaptationLoad.most) == (microphones > 5))
  }

  /// A unit vector of the device frame. Azimuth in degrees, left positive.
  private static func direction(_ azimuth: Double, elevation: Double = 0) -> SIMD3<Double> {
    let (a, e) = (azimuth * .pi / 180, elevation * .pi / 180)
    return frame.device(fromHead: [cos(a) * cos(e), sin(a) * cos(e), sin(e)])
  }

  /// The filters after all of `sound`, given in blocks of `size` frames and less.
  private static func analyse(
    _ sound: [[Float]], _ ears: EarTable, blocks size: Int = 64, strength: Double = 1
  ) -> (finder: DirectionFinder, corrected: CorrectedFilters) {
    let finder = DirectionFinder(ears.array, up: frame.up.vector)
    let corrected = CorrectedFilters(finder, taps: ears.base.taps)
    var target = AdaptiveFilters.Target(base: ears.base)
    (target.ears, target.array) = (ears, ears.array)
    corrected.use(target, feed: 0)
    corrected.feeds[0]?.strength = strength
    var at = 0
    while at < sound[0].count {
      let count = min(size, finder.framesToHop, sound[0].count - at)
      let block = sound.map { Array($0[at..<at + count]) }
      switch finder.append(block) {
      case .none: break
      case .silence: corrected.reset()
      case .directions: corrected.update()
      }
      at += count
    }
    corrected.writeFilters()
    return (finder, corrected)
  }

  private static func coefficients(
    _ analysis: (finder: DirectionFinder, corrected: CorrectedFilters)
  ) -> [Float] {
    Array(
      UnsafeBufferPointer(
        start: analysis.corrected.feeds[0]?.filters.floats, count: 2 * positions.count * base.taps))
  }

  /// The ratio of left to right for what the microphones receive, through filters `[ear][microphone][tap]`.
  private static func ratio(_ filters: [Float], _ waves: [Complex], _ frequency: Double) -> Complex {
    let ears = (0..<2).map { ear in
      waves.enumerated().reduce(Complex.zero) { sum, wave in
        let first = (ear * waves.count + wave.offset) * base.taps
        let response = (0..<base.taps).reduce(Complex.zero) { sum, tap in
          let phase: Double = -2 * .pi * frequency * Double(tap) / 48_000
          return sum + Double(filters[first + tap]) * Complex(phase: phase)
        }
        return sum + response * wave.element
      }
    }
    return ears[0] / ears[1]
  }

  @Test(
    "sound from one direction reaches the ears with at most half of the linear filters' interaural errors",
    arguments: [-100.0, -45, 20, 70])
  func oneDirection(azimuth: Double) throws {
    var noise = SeededNoise(seed: 42)
    let direction = Self.direction(azimuth)
    let sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      [direction], sines: 300, seconds: 0.6, noise: &noise)
    let adapted = Self.coefficients(Self.analyse(sound, Self.ears))
    let linear = Array(Self.base.filters.joined().joined())
    let (before, after) = (try Self.errors(linear, direction), try Self.errors(adapted, direction))
    #expect(after.decibels < before.decibels / 2, "\(before) \(after)")
    #expect(after.phase < before.phase / 2, "\(before) \(after)")
  }

  @Test(
    "each of two sources at once is heard with less than half of the linear filters' errors of phase, and on average of 0.8 of those of level"
  )
  func twoDirections() throws {
    let waves = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions)
    let directions = [Self.direction(-60), Self.direction(50)]
    let linear = Array(Self.base.filters.joined().joined())
    // Which frequencies of one lie beside those of the other is chance.
    var (before, after) = (0.0, 0.0)
    for seed in 11..<15 as Range<UInt64> {
      var noise = SeededNoise(seed: seed)
      let parts = directions.map { waves.samples([$0], sines: 300, seconds: 0.6, noise: &noise) }
      let sound = zip(parts[0], parts[1]).map { zip($0, $1).map(+) }
      let adapted = Self.coefficients(Self.analyse(sound, Self.ears))
      for direction in directions {
        let errors = (try Self.errors(linear, direction), try Self.errors(adapted, direction))
        #expect(errors.1.phase < errors.0.phase / 2, "\(errors)")
        before += errors.0.decibels
        after += errors.1.decibels
      }
    }
    #expect(after < 0.8 * before)
  }

  @Test(
    "a source heard through errors of the array has a quarter of the linear filters' errors of level, 0.4 of those of phase"
  )
  func wrongArray() throws {
    var noise = SeededNoise(seed: 12)
    // 1 mm, and 1 dB.
    let moved = Self.positions.enumerated().map { n, place in
      place + 1e-3 * SIMD3<Double>(cos(Double(n)), sin(Double(2 * n)), 0)
    }
    let gains = [1.0, -1, 0.7, -0.6].map { pow(10, $0 / 20) }
    let direction = Self.direction(35)
    let sound = zip(
      PlaneWaveSound(sampleRate: 48_000, positions: moved).samples(
        [direction], sines: 300, seconds: 0.6, noise: &noise), gains
    ).map { channel, gain in channel.map { Float(gain) * $0 } }
    let adapted = Self.coefficients(Self.analyse(sound, Self.ears))
    let linear = Array(Self.base.filters.joined().joined())
    let (before, after) = (
      try Self.errors(linear, direction, moved, gains), try Self.errors(adapted, direction, moved, gains)
    )
    #expect(after.decibels < before.decibels / 4, "\(before) \(after)")
    #expect(after.phase < 0.4 * before.phase, "\(before) \(after)")
  }

  /// Mean errors of the interaural level difference in decibels, and below 1.5 kHz of the phase difference in radians, for
  /// sound from a direction at microphones with these places and gains.
  private static func errors(
    _ filters: [Float], _ direction: SIMD3<Double>, _ positions: [SIMD3<Double>] = positions,
    _ gains: [Double] = [1, 1, 1, 1]
  ) throws -> (decibels: Double, phase: Double) {
    let frequencies = Array(stride(from: 300.0, through: 6000, by: 150))
    let target = StereoDesign.target(
      try HRTF(), from: [frame.head(fromDevice: direction)], frequencies: frequencies)
    var (decibels, phase, low) = (0.0, 0.0, 0)
    for (n, frequency) in frequencies.enumerated() {
      let waves = zip(
        PlaneWaveSound(sampleRate: 48_000, positions: positions).responses(direction, frequency), gains
      ).map { $1 * $0 }
      let error = ratio(filters, waves, frequency) / (target[n, 0, 0] / target[n, 1, 0])
      decibels += abs(20 * log10(error.magnitude)) / Double(frequencies.count)
      guard frequency < 1500 else { continue }
      phase += abs(error.phase)
      low += 1
    }
    return (decibels, phase / Double(low))
  }

  @Test(
    "each band finds the direction of a plane wave, at every sample rate; a flat array cannot tell up from down",
    arguments: [16_000, 44_100, 48_000, 96_000])
  func directions(sampleRate: Int) throws {
    let model = try AdaptiveModel(Self.device, sampleRate: sampleRate)
    let taps = 64
    var delta = [[[Float]]](
      repeating: [[Float]](repeating: [Float](repeating: 0, count: taps), count: 4), count: 2)
    for ear in 0..<2 { for m in 0..<4 { delta[ear][m][20] = 0.25 } }
    let base = FilterSet(coefficients: delta)
    let ears = try model.target(
      FeedSetting(Self.selection, adaptation: 1), whole: base, delayFrames: 20)!.ears!
    var noise = SeededNoise(seed: 7)
    let direction = Self.direction(-50)
    let sound = PlaneWaveSound(sampleRate: Double(sampleRate), positions: Self.positions).samples(
      [direction], sines: 300, seconds: 0.4, noise: &noise)
    let analysis = Self.analyse(sound, ears).finder
    let wanted = Self.frame.head(fromDevice: direction)
    for found in analysis.directions.map({ model.array!.directions[$0] }) {
      let head = Self.frame.head(fromDevice: found)
      let (azimuth, elevation) = (atan2(head.y, head.x), asin(head.z))
      #expect(abs(azimuth - atan2(wanted.y, wanted.x)) * 180 / .pi < 6)
      #expect(abs(elevation) * 180 / .pi < 25)
    }
  }

  @Test("filters do not depend on the lengths of the blocks that sound comes in")
  func blocks() {
    var noise = SeededNoise(seed: 3)
    let sound = Self.positions.map { _ in noise.samples(6000) }
    let once = Self.coefficients(Self.analyse(sound, Self.ears, blocks: 128))
    #expect(Self.coefficients(Self.analyse(sound, Self.ears, blocks: 37)) == once)
    #expect(once != Array(Self.base.filters.joined().joined()))
  }

  @Test("in silence, and at strength 0, the filters are the linear ones")
  func linear() {
    let linear = Array(Self.base.filters.joined().joined())
    let silence = [[Float]](repeating: [Float](repeating: 0, count: 5000), count: 4)
    #expect(Self.coefficients(Self.analyse(silence, Self.ears)) == linear)
    var noise = SeededNoise(seed: 3)
    let sound = Self.positions.map { _ in noise.samples(5000) }
    #expect(Self.coefficients(Self.analyse(sound, Self.ears, strength: 0)) == linear)
  }

  @Test("in diffuse sound, the level of each octave stays within 0.5 dB of the linear filters'")
  func diffuse() {
    var noise = SeededNoise(seed: 11)
    let directions = fibonacciSphere(150)
    let sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      directions, sines: 12, seconds: 1.2, noise: &noise)
    let linear = Array(Self.base.filters.joined().joined())
    let waves = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions)
    /// The energy of one ear's output for a plane wave.
    func energy(_ responses: ArraySlice<Complex>, _ wave: [Complex]) -> Double {
      zip(responses, wave).reduce(Complex.zero) { $0 + $1.0 * $1.1 }.squaredMagnitude
    }
    func energy(_ filters: [Float], _ octave: Double) -> Double {
      var sum = 0.0
      for frequency in stride(from: octave / 1.3, through: octave * 1.3, by: octave / 5) {
        let responses = (0..<8).map { n in
          (0..<Self.base.taps).reduce(Complex.zero) { sum, tap in
            let phase: Double = -2 * .pi * frequency * Double(tap) / 48_000
            return sum + Double(filters[n * Self.base.taps + tap]) * Complex(phase: phase)
          }
        }
        for direction in directions {
          let wave = waves.responses(direction, frequency)
          sum += energy(responses[..<4], wave) + energy(responses[4...], wave)
        }
      }
      return sum
    }
    // The mean over many moments.
    var adapted = [Double](repeating: 0, count: 5)
    let octaves = [250.0, 500, 1000, 2000, 4000]
    for moment in 1...20 {
      let filters = Self.coefficients(
        Self.analyse(sound.map { Array($0[..<(24_000 + moment * 1600)].suffix(12_000)) }, Self.ears))
      for (n, octave) in octaves.enumerated() { adapted[n] += energy(filters, octave) / 20 }
    }
    for (n, octave) in octaves.enumerated() {
      let difference = 10 * log10(adapted[n] / energy(linear, octave))
      #expect(abs(difference) < 0.5, "\(octave) Hz: \(difference) dB")
    }
  }

  @Test("a muted microphone leads back to the linear filters, bit for bit, and its return to adaptation")
  func mutedMicrophone() throws {
    var noise = SeededNoise(seed: 5)
    var sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      [Self.direction(60)], sines: 100, seconds: 4, noise: &noise)
    // Invalid samples for two seconds.
    for n in stride(from: 24_000, to: 100_000, by: 100) { sound[2][n] = .nan }
    func run(_ adapts: Bool) throws -> (OfflineRun, AdaptiveFilters?, [AdaptiveFilters.State]) {
      let engine = Self.sets.makeEngine(adapts: adapts)
      engine.start(with: Self.base)
      let adaptive = AdaptiveFilters(engine)
      let target = try Self.model.target(
        FeedSetting(Self.selection, adaptation: 1), whole: Self.base, delayFrames: Self.delay)
      adaptive?.start(target.map { [0: $0] } ?? [:])
      var run = OfflineRun(engine, microphones: sound)
      if let adaptive { run.afterPeriod = adaptive.work }
      var states: [AdaptiveFilters.State] = []
      for second in 1...4 {
        run.run(wholePeriodsTo: second * 48_000 - 24_000, period: 128)
        if let adaptive { states.append(adaptive.state) }
      }
      return (run, adaptive, states)
    }
    let (adapted, _, states) = try run(true)
    let (linear, _, _) = try run(false)
    #expect(states == [.adapting, .mutedMicrophone, .mutedMicrophone, .adapting])
    #expect(adapted.left[4800..<23_000] != linear.left[4800..<23_000])
    #expect(adapted.left[72_000..<100_000] == linear.left[72_000..<100_000])
    #expect(adapted.left[150_000..<167_000] != linear.left[150_000..<167_000])
  }

  @Test("a rendering at strength 0 equals one without adaptation, bit for bit")
  func strengthZero() throws {
    var noise = SeededNoise(seed: 8)
    let sound = Self.positions.map { _ in noise.samples(20_000) }
    func render(_ strength: Double, _ model: AdaptiveModel?) throws -> [[Float]] {
      var parts = [sound]
      var output: [[Float]] = [[], []]
      try Self.sets.render(
        [FilterSets.Feed(FeedSetting(Self.selection, adaptation: strength))], of: Self.device,
        model: model,
        next: { parts.popLast() }, write: { for n in 0..<2 { output[n] += $0[0][n] } })
      return output
    }
    let linear = try render(0, nil)
    #expect(try render(0, Self.model) == linear)
    #expect(try render(1, Self.model) != linear)
  }

  @Test("a second feed follows the sound as main does, bit for bit, beside main or beside a linear main")
  func secondFeed() throws {
    var noise = SeededNoise(seed: 9)
    let sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      [Self.direction(60)], sines: 100, seconds: 1, noise: &noise)
    func render(_ strengths: [Double]) throws -> [[[Float]]] {
      var parts = [sound]
      var outputs = [[[Float]]](repeating: [[], []], count: strengths.count)
      try Self.sets.render(
        strengths.map { FilterSets.Feed(FeedSetting(Self.selection, adaptation: $0)) }, of: Self.device,
        model: Self.model, period: 128, next: { parts.popLast() },
        write: { feeds in
          for (n, feed) in feeds.enumerated() { for side in 0..<2 { outputs[n][side] += feed[side] } }
        })
      return outputs
    }
    let (alone, linear) = (try render([1])[0], try render([0])[0])
    #expect(alone != linear)
    #expect(try render([1, 1]) == [alone, alone])
    #expect(try render([0, 1]) == [linear, alone])
    #expect(try render([1, 0]) == [alone, linear])
  }

  @Test(
    "a change of one feed's gain in a rendering interrupts nothing: neither what it follows, nor the other feed"
  )
  func eventInRendering() throws {
    var noise = SeededNoise(seed: 9)
    let sound = PlaneWaveSound(sampleRate: 48_000, positions: Self.positions).samples(
      [Self.direction(60)], sines: 100, seconds: 1, noise: &noise)
    func render(_ gain: Double?) throws -> [[Float]] {
      var parts = [sound]
      var outputs: [[Float]] = [[], []]
      let main = FilterSets.Feed(FeedSetting(Self.selection, adaptation: 1))
      var other = main
      if let gain {
        other.changes = [(24_064, FeedSetting(Self.selection, gain: Decibels(gain), adaptation: 1))]
      }
      try Self.sets.render(
        [main, other], of: Self.device, model: Self.model, period: 128, next: { parts.popLast() },
        write: { feeds in for n in 0..<2 { outputs[n] += feeds[n][0] } })
      return outputs
    }
    let (unchanged, changed) = (try render(nil), try render(-6))
    #expect(changed[0] == unchanged[0])
    #expect(unchanged[1] == unchanged[0])
    // After the fade of 20 ms, in which the filters do not change.
    let level = Float(pow(10, -6.0 / 20))
    let late = 27_000..<changed[1].count
    let error = zip(changed[1][late], unchanged[1][late]).map { abs($0 - level * $1) }.max()!
    #expect(error < 1e-6, "\(error)")
  }

  @Test("an inverse times its matrix is the identity, and a quadratic form the trace of a product")
  func matrices() {
    var noise = SeededNoise(seed: 1)
    let vectors = (0..<9).map { _ in
      (0..<5).map { _ in Complex(Double(noise.samples(1)[0]), Double(noise.samples(1)[0])) }
    }
    func sum(_ vectors: ArraySlice<[Complex]>) -> HermitianMatrix {
      var sum = HermitianMatrix(order: 5, values: [Complex](repeating: .zero, count: 25))
      for vector in vectors {
        for (n, value) in HermitianMatrix(outer: vector).values.enumerated() { sum.values[n] += value }
      }
      return sum
    }
    let (a, c) = (sum(vectors[..<7]), sum(vectors[5...]))
    let inverse = a.inverse
    var trace = Complex.zero
    for i in 0..<5 {
      for j in 0..<5 {
        let product = (0..<5).reduce(Complex.zero) { $0 + inverse.values[i * 5 + $1] * a.values[$1 * 5 + j] }
        #expect((product - (i == j ? .one : .zero)).magnitude < 1e-9)
        trace += a.values[i * 5 + j] * c.values[j * 5 + i]
      }
    }
    var terms = [Double](repeating: 0, count: 25)
    for i in 0..<5 {
      for j in 0..<5 { terms[i * 5 + j] = i <= j ? c.values[i * 5 + j].real : c.values[j * 5 + i].imaginary }
    }
    #expect(abs(zip(a.quadratic, terms).reduce(0) { $0 + $1.0 * $1.1 } - trace.real) < 1e-9)
    #expect(abs(trace.imaginary) < 1e-9)
  }
}
