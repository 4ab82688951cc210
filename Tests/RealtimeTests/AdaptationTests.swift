import Foundation
import Realtime
import TestSupport
import Testing

/// Filters that follow the sound: how they are heard. The worker delivers between periods.
@Suite("Filters that follow the sound") struct AdaptationTests {
  static let periods = [16, 64, 100, 128, 1024]

  /// An engine of five microphones and filters of 256 taps, whose filters can follow the sound, with a base in force; and
  /// what its outputs are.
  struct Scene {
    let engine: Engine
    let stream: FilterStream
    let sets: [FilterSet]
    let filters: [[[[Float]]]]
    var run: OfflineRun
    let signals: [[Float]]
    var left: ExpectedOutput
    var right: ExpectedOutput
    let adaptedFade: Int
    /// The set that was delivered and waits.
    private var waiting: Int?

    init(
      period: Int, total: Int = 8000, sets: Int = 5, microphones: Int = 5, taps: Int = 256,
      rate: Double = 48000, seed: UInt64 = 1
    ) throws {
      var noise = SeededNoise(seed: seed)
      let signals = (0..<microphones).map { _ in noise.samples(total, amplitude: 0.5) }
      let filters = (0..<sets).map { _ in noise.filters(microphones: microphones, taps: taps) }
      self.signals = signals
      self.filters = filters
      self.sets = filters.map { FilterSet(coefficients: $0) }
      engine = Engine(microphones: microphones, taps: taps, sampleRate: rate, adapts: true)
      stream = try #require(engine.stream)
      engine.start(with: self.sets[0], lineage: 1)
      engine.prepare(period: period)
      run = OfflineRun(engine, microphones: signals)
      left = ExpectedOutput(filters.map { directConvolution(signals, $0[0]) })
      right = ExpectedOutput(filters.map { directConvolution(signals, $0[1]) })
      adaptedFade = rate <= 50_000 ? 128 : rate <= 100_000 ? 256 : 512
    }

    /// Delivers set `n` for the base `base`, which is in force or was before it turned.
    mutating func deliver(_ n: Int, base: Int = 0, lineage: Int = 0) {
      #expect(stream.deliver(base: sets[base], lineage: lineage, filters[n]))
      waiting = n
    }

    mutating func fade(to n: Int, over frames: Int) {
      left.fade(to: n, at: run.position, over: frames)
      right.fade(to: n, at: run.position, over: frames)
    }

    /// Processes one period, at whose start the set that waits is taken up if no other fade is under way.
    mutating func process(_ period: Int) {
      if let next = waiting, run.position >= left.end {
        fade(to: next, over: adaptedFade)
        waiting = nil
      }
      run.process(period)
    }

    /// Whether both outputs are what they must be.
    func check(_ comment: Comment = "") {
      let errors = (left.error(of: run.left), right.error(of: run.right))
      #expect(max(errors.0, errors.1) <= 1e-6, "error \(errors) \(comment)")
      #expect(engine.statistics.unpreparedPeriods == 0)
    }
  }

  @Test(
    "delivered filters are heard as direct convolution says, one after another over 128 frames each, and only the newest",
    arguments: periods)
  func isDirectConvolution(period: Int) throws {
    var scene = try Scene(period: period)
    var delivered = 0
    while scene.run.position + period <= 8000 {
      // The worker has a hop of 64 frames.
      while delivered * 64 < scene.run.position {
        delivered += 1
        scene.deliver(1 + delivered % 4)
      }
      scene.process(period)
    }
    scene.check()
    #expect(scene.stream.isAdapted)
    #expect(scene.engine.drainReports() == [])
    #expect(scene.engine.statistics.lateAdaptations == 0)
  }

  @Test(
    "another feed follows, too: delivered filters are heard on it alone; it may end meanwhile, and its successor is linear",
    arguments: periods)
  func anotherFeed(period: Int) throws {
    var scene = try Scene(period: period)
    let engine = Engine(microphones: 5, taps: 256, sampleRate: 48000, adapts: true)
    let stream = try #require(engine.stream)
    engine.start(with: scene.sets[0])
    let feed = try #require(engine.startFeed(with: scene.sets[0], firstOutput: 0))
    engine.prepare(period: period)
    var run = OfflineRun(engine, microphones: scene.signals, feedOutputs: 2)
    while scene.run.position + period <= 4000 {
      if scene.run.position % 512 < period {
        let n = 1 + scene.run.position / 512 % 4
        scene.deliver(n)
        #expect(stream.deliver(feed: feed, base: scene.sets[0], scene.filters[n]))
      }
      scene.process(period)
      run.process(period)
    }
    scene.check()
    #expect(differences(run.feeds[0], scene.run.left) == 0 && differences(run.feeds[1], scene.run.right) == 0)
    #expect(stream.isAdapted(feed: feed) && !stream.isAdapted)
    _ = try engine.endFeed(feed)
    run.process(period)
    let reports = engine.drainReports()
    #expect(reports.contains { if case .feedEnded = $0 { true } else { false } }, "\(reports)")
    #expect(!reports.contains { if case .superseded = $0 { true } else { false } }, "\(reports)")
    #expect(!stream.deliver(feed: feed, base: scene.sets[0], scene.filters[1]))
    let next = try #require(try engine.beginFeed(outputs: 2, firstOutput: 0))
    #expect(next.feed == feed)
    _ = try engine.change(feed: next.feed, to: scene.sets[2], gain: 1)
    let begin = run.position
    while run.position < begin + 2000 { run.process(period) }
    #expect(!stream.isAdapted(feed: feed))
    #expect(engine.drainReports().contains { if case .applied = $0 { true } else { false } })
  }

  @Test("the fade has 256 frames above 50 kHz, and 512 above 100 kHz", arguments: [44100.0, 96000, 192_000])
  func fadeLength(rate: Double) throws {
    var scene = try Scene(period: 64, total: 4096, taps: 64, rate: rate)
    while scene.run.position < 4096 {
      if scene.run.position % 128 == 0 { scene.deliver(1 + scene.run.position / 128 % 4) }
      scene.process(64)
    }
    scene.check()
  }

  @Test(
    "bit for bit the linear engine without a stream, before the first delivery, and after the return to the base",
    arguments: periods)
  func isLinearAgain(period: Int) throws {
    let total = 12_000
    var scene = try Scene(period: period, total: total)
    let linear = Engine(microphones: 5, taps: 256, sampleRate: 48000)
    linear.start(with: FilterSet(coefficients: scene.filters[0]))
    linear.prepare(period: period)
    var run = OfflineRun(linear, microphones: scene.signals)
    scene.stream.start()
    var (first, back): (Int, Int?) = (0, nil)
    while scene.run.position + period <= total {
      let position = scene.run.position
      _ = scene.stream.readAll()
      if position < 4000 {
        first = position + period
      } else if position < 6000 {
        scene.deliver(1 + position / period % 4)
      } else if back == nil {
        scene.stream.stop()
        // The return begins after the fade that is under way, and takes 20 ms.
        back = max(position, (scene.left.end + period - 1) / period * period) + 960
      }
      scene.process(period)
      run.process(period)
    }
    let end = try #require(back)
    #expect(differences(scene.run.left[..<first], run.left[..<first]) == 0)
    #expect(differences(scene.run.right[..<first], run.right[..<first]) == 0)
    #expect(differences(scene.run.left[first..<end], run.left[first..<end]) > 1000)
    #expect(differences(scene.run.left[end...], run.left[end...]) == 0)
    #expect(differences(scene.run.right[end...], run.right[end...]) == 0)
    #expect(!scene.stream.isAdapted && scene.stream.freeSlots == 4)
    #expect(scene.engine.statistics.lateAdaptations == 0)
  }

  @Test("filters for a set that is not in force are never heard")
  func otherBase() throws {
    var scene = try Scene(period: 64, total: 4096)
    while scene.run.position < 4096 {
      #expect(scene.stream.deliver(base: scene.sets[1], scene.filters[2]))
      scene.process(64)
      #expect(!scene.stream.isAdapted && scene.stream.freeSlots >= 3)
    }
    scene.check()
  }

  @Test(
    "where nothing comes for 100 ms, the base fades in over 20 ms, which is counted once; a return that is asked for is not",
    arguments: periods)
  func late(period: Int) throws {
    let total = 24_576
    var scene = try Scene(period: period, total: total, microphones: 2, taps: 64)
    var adopted: Int?
    while scene.run.position + period <= total {
      let position = scene.run.position
      if position >= 2000, adopted == nil || position >= 16_000, scene.left.playing == 0 {
        scene.deliver(1)
        adopted = position
      } else if let start = adopted, position < 16_000, position - start >= 4800, scene.left.playing != 0 {
        scene.fade(to: 0, over: 960)
      } else if position >= 18_000, scene.left.playing != 0, position >= scene.left.end {
        scene.stream.returnToBase()
        scene.fade(to: 0, over: 960)
        adopted = total
      }
      scene.process(period)
      if adopted == total { break }
    }
    while scene.run.position + period <= total { scene.process(period) }
    scene.check()
    #expect(scene.left.playing == 0 && adopted == total)
    #expect(scene.engine.statistics.lateAdaptations == 1)
    #expect(!scene.stream.isAdapted && scene.stream.freeSlots == 4)
  }

  /// The level in dBFS beyond ±500 Hz of a 997 Hz tone, around the return to the base because nothing was delivered.
  func splatterOfReturn(fadeFrames: Int?, period: Int) throws -> Double {
    let engine = Engine(microphones: 1, taps: 64, sampleRate: 48000, fadeFrames: fadeFrames, adapts: true)
    let stream = try #require(engine.stream)
    let base = scaling(1)
    engine.start(with: base)
    engine.prepare(period: period)
    let tone = (0..<140_000).map { Float(0.2512 * sin(2 * Double.pi * 997 * Double($0) / 48000)) }
    var run = OfflineRun(engine, microphones: [tone])
    let adapted = [[[-0.7] + [Float](repeating: 0, count: 63)], [[Float](repeating: 0, count: 63) + [0.4]]]
    // The return comes in the middle of what is examined.
    while run.position < 60_000 {
      stream.deliver(base: base, adapted)
      run.process(period)
    }
    #expect(stream.isAdapted)
    let end = run.position
    while run.position < end + 40_000 { run.process(period) }
    #expect(engine.statistics.lateAdaptations == 1 && !stream.isAdapted)
    let start = end + 4800 - 32_768
    return [run.left, run.right]
      .map { Spectrum(Array($0[start..<start + 65_536]), sampleRate: 48000).peakOutside(997, distance: 500) }
      .max()!
  }

  @Test(
    "a worker that is late leaves nothing above -80 dBFS beyond 500 Hz of a tone", arguments: [64, 128, 1000])
  func lateDoesNotClick(period: Int) throws {
    let level = try splatterOfReturn(fadeFrames: nil, period: period)
    #expect(level < -80, "\(level) dBFS")
  }

  @Test("the test of the late worker detects clicks: it fails with fades off")
  func lateTestFailsWithoutFades() throws {
    let level = try splatterOfReturn(fadeFrames: 0, period: 64)
    #expect(level > -80, "\(level) dBFS")
  }

  @Test(
    "through changes of period, filters that follow the sound are heard as they were: neither silence nor a step"
  )
  func periodChange() throws {
    var scene = try Scene(period: 64, total: 20_000)
    for (n, period) in [64, 1024, 16, 441, 128, 4096, 48, 64].enumerated() {
      scene.engine.prepare(period: period)
      // Late deliveries for both layouts, or none since the last change of period.
      if n % 3 != 2 { scene.deliver(1 + n % 4) }
      for _ in 0..<max(1, 300 / period) { scene.process(period) }
      if n % 3 == 1 { scene.deliver(1 + (n + 1) % 4) }
    }
    scene.check()
    #expect(scene.left.playing > 0 && scene.stream.isAdapted)
  }

  @Test("long filters that are formed ahead are refused, and a change to such a period plays the base")
  func tail() throws {
    let taps = 1024
    var scene = try Scene(period: 64, total: 6000, sets: 3, microphones: 2, taps: taps)
    try scene.engine.useTail(block: 8, period: 16)
    #expect(scene.stream.canAdapt)
    while scene.run.position < 3200 {
      scene.deliver(1 + scene.run.position / 64 % 2)
      scene.process(64)
    }
    scene.engine.prepare(period: 16)
    #expect(!scene.stream.canAdapt)
    #expect(!scene.stream.deliver(base: scene.sets[0], scene.filters[1]))
    #expect(scene.stream.isAdapted)
    let changed = scene.run.position
    while scene.run.position < 4800 { scene.run.process(16) }
    #expect(!scene.stream.isAdapted && scene.stream.freeSlots >= 3)
    scene.left.fade(to: 0, at: max(changed, scene.left.end), over: 0)
    let peak = scene.left.samples.map(\.magnitude).max()!
    let error = zip(scene.run.left[(changed + 128)...], scene.left.alone[0][(changed + 128)...])
      .map { abs(Double($0) - $1) }.max()!
    #expect(error <= 1e-6 * peak, "error \(error / peak)")
    scene.engine.prepare(period: 64)
    scene.run.process(64)
    _ = scene.engine.drainReports()
    for _ in 0..<20 { scene.run.process(64) }
    _ = scene.engine.drainReports()
    #expect(scene.stream.canAdapt)
    #expect(scene.stream.deliver(base: scene.sets[0], scene.filters[1]))
    scene.run.process(64)
    #expect(scene.stream.isAdapted)
  }

  @Test("all filters that ship can follow the sound with periods of 16 frames and more")
  func shippedFilters() {
    for (rate, shortest) in [(44100, 16), (48000, 16), (88200, 16), (96000, 32), (192_000, 64)] {
      let taps = 256 * rate / 48000
      for microphones in 2...16 {
        let engine = Engine(microphones: microphones, taps: taps, sampleRate: Double(rate), adapts: true)
        for period in [16, 32, 48, 64, 100, 128, 256, 512, 1024, 2048, 4096, 8192] where period >= shortest {
          engine.prepare(period: period)
          #expect(engine.stream!.canAdapt, "\(rate) Hz, \(microphones) microphones, period \(period)")
        }
      }
    }
  }
}
