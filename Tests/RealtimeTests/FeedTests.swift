import Foundation
import Realtime
import TestSupport
import Testing

@Suite("Several feeds") struct FeedTests {
  static let taps = 700

  static func filters(_ outputs: Int, microphones: Int = 3, _ noise: inout SeededNoise) -> FilterSet {
    FilterSet(
      coefficients: (0..<outputs).map { _ in
        (0..<microphones).map { _ in noise.samples(taps, amplitude: 0.01) }
      })
  }

  static func engine(microphones: Int = 3, period: Int = 64) -> Engine {
    let engine = Engine(microphones: microphones, taps: taps, sampleRate: 48000)
    engine.prepare(period: period)
    return engine
  }

  /// A change of a feed's filters, gain and high-pass before a period.
  struct Step {
    let feed: Int
    let period: Int
    let filters: FilterSet
    let gain: Float
    let highPass: Double?
  }

  @Test("the outputs of four feeds equal, bit for bit, those of engines that each play one of them")
  func separateEngines() throws {
    var noise = SeededNoise(seed: 21)
    let signal = (0..<3).map { _ in noise.samples(60_000, amplitude: 0.5) }
    let outputs = [2, 1, 4, 9]
    let sets = outputs.map { count in (0..<3).map { _ in Self.filters(count, &noise) } }
    var steps: [Step] = []
    for feed in outputs.indices {
      for _ in 0..<25 {
        steps.append(
          Step(
            feed: feed, period: Int.random(in: 1..<900, using: &noise),
            filters: sets[feed].randomElement(using: &noise)!, gain: Float.random(in: 0...1, using: &noise),
            highPass: [nil, 80, 200].randomElement(using: &noise)!))
      }
    }
    /// Plays some feeds, from the second on at places in the order of `feeds`, and returns their outputs.
    func play(_ feeds: [Int]) throws -> [[[Float]]] {
      let engine = Self.engine()
      var places = [0: 0]
      var (numbers, end) = ([0: 0], 0)
      if feeds.contains(0) { engine.start(with: sets[0][0]) }
      for feed in feeds where feed > 0 {
        places[feed] = end
        numbers[feed] = engine.startFeed(with: sets[feed][0], firstOutput: end)
        end += outputs[feed]
      }
      var run = OfflineRun(engine, microphones: signal, feedOutputs: end)
      for period in 0..<900 {
        for step in steps where step.period == period && feeds.contains(step.feed) {
          _ = try engine.change(
            feed: numbers[step.feed]!, to: step.filters, gain: step.gain, highPass: step.highPass)
        }
        let frames = period < 300 || period >= 600 ? 64 : 128
        if period == 300 || period == 600 { engine.prepare(period: frames) }
        run.process(frames)
        _ = engine.drainReports()
      }
      return feeds.map { feed in
        feed == 0
          ? [run.left, run.right] : Array(run.feeds[places[feed]!..<places[feed]! + outputs[feed]])
      }
    }
    let together = try play([0, 1, 2, 3])
    for feed in outputs.indices {
      let alone = try play([feed])[0]
      #expect(together[feed] == alone, "feed \(feed)")
      #expect(alone.allSatisfy { $0.contains { $0 != 0 } })
    }
  }

  @Test("R55: feeds that come and go 1000 times leave the others as they are, bit for bit")
  func comingsAndGoings() throws {
    func play(disturbed: Bool) throws -> [[Float]] {
      var noise = SeededNoise(seed: 5)
      let signal = (0..<3).map { _ in noise.samples(48_000, amplitude: 0.5) }
      let (main, other) = (Self.filters(2, &noise), Self.filters(4, &noise))
      let coming = (1...5).map { Self.filters($0, &noise) }
      let engine = Self.engine()
      engine.start(with: main)
      _ = engine.startFeed(with: other, firstOutput: 0)
      var run = OfflineRun(engine, microphones: signal, feedOutputs: 9)
      var sound = [[Float]](repeating: [], count: 6)
      for round in 0..<1000 {
        var feed: Int?
        let filters = coming[round % 5]
        if disturbed {
          let begun = try #require(try engine.beginFeed(outputs: filters.outputs, firstOutput: 4))
          _ = try engine.change(feed: begun.feed, to: filters, gain: 1)
          feed = begun.feed
        }
        let periods = round % 7 + 1
        for _ in 0..<periods { run.process(64) }
        if round % 100 == 50 { engine.prepare(period: 64) }
        if disturbed {
          #expect(try engine.endFeed(feed!) != nil)
          #expect(try engine.endFeed(feed!) == nil)
        }
        run.process(64)
        let reports = engine.drainReports()
        if disturbed {
          #expect(reports.contains { if case .feedBegan = $0 { true } else { false } })
          #expect(reports.contains { if case .feedEnded = $0 { true } else { false } })
        }
        for (n, samples) in ([run.left, run.right] + run.feeds[..<4]).enumerated() { sound[n] += samples }
        run.discardOutput()
      }
      return sound
    }
    let (quiet, disturbed) = (try play(disturbed: false), try play(disturbed: true))
    #expect(quiet == disturbed)
    #expect(quiet.allSatisfy { $0.contains { $0 != 0 } })
  }

  @Test(
    "R3: four feeds changed at random 50 times a second each leave nothing above −80 dBFS beyond 500 Hz of a tone"
  )
  func clicks() throws {
    let rate = 48000.0
    var noise = SeededNoise(seed: 3)
    let engine = Engine(microphones: 2, taps: 64, sampleRate: rate)
    func pair(_ outputs: Int) -> FilterSet {
      FilterSet(
        coefficients: (0..<outputs).map { _ in
          (0..<2).map { _ in
            var filter = [Float](repeating: 0, count: 64)
            filter[Int.random(in: 0..<64, using: &noise)] = Float.random(in: -1...1, using: &noise)
            return filter
          }
        })
    }
    let outputs = [2, 1, 2, 4]
    let sets = outputs.map { count in (0..<8).map { _ in pair(count) } }
    engine.start(with: sets[0][0])
    var feeds = [0]
    for (n, place) in [(1, 0), (2, 1), (3, 3)] {
      feeds.append(try #require(engine.startFeed(with: sets[n][0], firstOutput: place)))
    }
    engine.prepare(period: 64)
    let tone = (0..<550_000).map { Float(0.2512 * sin(2 * Double.pi * 997 * Double($0) / rate)) }
    var run = OfflineRun(engine, microphones: [tone, tone.reversed()], feedOutputs: 7)
    var nextChange = [1000.0, 1000, 1000, 1000]
    while run.position < 540_000 {
      for n in feeds.indices where Double(run.position) >= nextChange[n] {
        _ = try engine.change(
          feed: feeds[n], to: sets[n].randomElement(using: &noise)!,
          gain: Float.random(in: 0.1...1, using: &noise))
        nextChange[n] += rate / 50 * Double.random(in: 0.5...1.5, using: &noise)
      }
      run.process(64)
    }
    for samples in [run.left, run.right] + run.feeds {
      #expect(Spectrum(samples, sampleRate: rate).peakOutside(997, distance: 500) < -80)
    }
  }

  @Test("during a take changes of every feed are refused, and feeds neither come nor go")
  func lock() throws {
    let engine = Self.engine(microphones: 1)
    var noise = SeededNoise(seed: 1)
    let (stereo, mono) = (Self.filters(2, microphones: 1, &noise), Self.filters(1, microphones: 1, &noise))
    engine.start(with: stereo)
    let feed = try #require(engine.startFeed(with: mono, firstOutput: 0))
    var run = OfflineRun(engine, microphones: [[]], feedOutputs: 3)
    let take = try engine.beginTake(into: TakeRing(outputs: 2, capacityFrames: 48000))
    run.process(64)
    _ = engine.drainReports()
    let change = try engine.change(feed: feed, to: mono, gain: 0.5)
    let begun = try #require(try engine.beginFeed(outputs: 2, firstOutput: 1))
    let end = try #require(try engine.endFeed(feed))
    let substitution = try engine.substitute(feed: feed, mono, gain: 1)
    run.process(64)
    let reports = engine.drainReports()
    for ticket in [change, begun.ticket, end] { #expect(reports.contains(.refused(ticket, take: take))) }
    #expect(reports.contains(.substituted(substitution, frame: 64, takeFrame: 64)))
    _ = try engine.endTake()
    run.process(64)
    // What was refused may be asked for again.
    let again = try #require(try engine.beginFeed(outputs: 2, firstOutput: 1))
    let endAgain = try #require(try engine.endFeed(feed))
    run.process(64)
    let after = engine.drainReports()
    #expect(after.contains(.feedBegan(again.ticket)))
    #expect(after.contains(.feedEnded(endAgain, feed: feed)))
  }

  @Test("a take waits for the fades of all feeds")
  func takeWaitsForFades() throws {
    let engine = Self.engine(microphones: 1)
    var noise = SeededNoise(seed: 1)
    let mono = Self.filters(1, microphones: 1, &noise)
    engine.start(with: Self.filters(2, microphones: 1, &noise))
    let feed = try #require(engine.startFeed(with: mono, firstOutput: 0))
    var run = OfflineRun(engine, microphones: [[]], feedOutputs: 1)
    run.process(64)
    let change = try engine.change(feed: feed, to: mono, gain: 0.5)
    let take = try engine.beginTake(into: TakeRing(outputs: 2, capacityFrames: 48000))
    for _ in 0..<20 { run.process(64) }
    #expect(
      engine.drainReports() == [.applied(change, frame: 64 + 960), .takeBegan(take, frame: 64 + 960)])
  }

  @Test("there are at most 15 feeds besides main, with 62 outputs")
  func limits() throws {
    let engine = Self.engine(microphones: 1)
    for n in 0..<15 { #expect(try engine.beginFeed(outputs: 1, firstOutput: n) != nil) }
    #expect(try engine.beginFeed(outputs: 1, firstOutput: 15) == nil)
    let other = Self.engine(microphones: 1)
    #expect(try other.beginFeed(outputs: 25, firstOutput: 37) != nil)
    #expect(try other.beginFeed(outputs: 25, firstOutput: 0) != nil)
    #expect(try other.beginFeed(outputs: 25, firstOutput: 62) == nil)
  }

  @Test("an output that nothing listens to leaves the other outputs of its feed as they are")
  func unheardOutput() throws {
    var noise = SeededNoise(seed: 8)
    let filters = Self.filters(3, &noise)
    let signal = noise.samples(6400, amplitude: 0.5)
    func play(_ heard: [Bool]) -> [[Float]] {
      let engine = Self.engine()
      _ = engine.startFeed(with: filters, firstOutput: 0, highPass: 80)
      flushDenormalsToZero()
      var outputs = [[Float]](repeating: [Float](repeating: 0, count: 64), count: 5)
      var result = [[Float]](repeating: [], count: 3)
      for n in 0..<100 {
        let input = Array(signal[n * 64..<n * 64 + 64])
        input.withUnsafeBufferPointer { input in
          let inputs = [UnsafePointer<Float>?](repeating: input.baseAddress!, count: 3)
          let buffers = outputs.map { _ in UnsafeMutablePointer<Float>.allocate(capacity: 64) }
          defer { for buffer in buffers { buffer.deallocate() } }
          let feeds = (0..<3).map { heard[$0] ? Optional(buffers[2 + $0]) : nil }
          inputs.withUnsafeBufferPointer { inputs in
            feeds.withUnsafeBufferPointer { feeds in
              let period = Period(
                frames: 64, inputs: inputs.baseAddress!, left: buffers[0], right: buffers[1],
                feeds: feeds.baseAddress)
              RealtimeContext.run { engine.process(period) }
            }
          }
          for m in 0..<3 where heard[m] {
            outputs[2 + m] = Array(UnsafeBufferPointer(start: buffers[2 + m], count: 64))
            result[m] += outputs[2 + m]
          }
        }
      }
      return result
    }
    let all = play([true, true, true])
    #expect(all.allSatisfy { $0.contains { $0 != 0 } })
    for n in 0..<3 {
      var heard = [true, true, true]
      heard[n] = false
      let without = play(heard)
      for m in 0..<3 where m != n { #expect(without[m] == all[m]) }
    }
  }

  @Test("a feed without a signal measures nothing, and a later feed on its outputs begins there")
  func levels() throws {
    let engine = Self.engine(microphones: 1)
    engine.start(with: scaling(1, taps: Self.taps))
    let feed = try #require(engine.startFeed(with: scaling(0.5, taps: Self.taps), firstOutput: 3))
    var run = OfflineRun(engine, microphones: [[Float](repeating: 0.5, count: 9600)], feedOutputs: 4)
    while run.position < 4800 { run.process(64) }
    #expect(isNear(engine.feedLevels(firstOutput: 3, outputs: 1)[0].peak, 0.25))
    _ = try engine.endFeed(feed)
    run.process(64)
    _ = engine.drainReports()
    let next = try #require(try engine.beginFeed(outputs: 2, firstOutput: 2))
    for _ in 0..<20 { run.process(64) }
    #expect(engine.feedLevels(firstOutput: 2, outputs: 2).allSatisfy { $0.peak == 0 && $0.rms == 0 })
    #expect(next.feed == feed)
  }
}
