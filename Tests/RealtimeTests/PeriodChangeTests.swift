import Foundation
import Realtime
import TestSupport
import Testing

/// What is heard after a change of period, prepared or not.
@Suite("Changes of period") struct PeriodChangeTests {
  @Test(
    "a period of more than 8192 frames is silent and counted; changes are applied, and the periods after it are correct"
  )
  func tooLong() throws {
    let tooLong = 2 * Partitioning.longestPeriod
    var noise = SeededNoise(seed: 6)
    let filters = noise.filters(microphones: 2, taps: 700)
    let signal = (0..<2).map { _ in noise.samples(50 * 64 + tooLong + 100 * 64) }
    let engine = Engine(microphones: 2, taps: 700, sampleRate: 48000)
    engine.prepare(period: 64)
    var run = OfflineRun(engine, microphones: signal)
    for _ in 0..<50 { run.process(64) }
    let ticket = try engine.change(to: FilterSet(coefficients: filters), gain: 1)
    let unprepared = engine.statistics.unpreparedPeriods
    engine.prepare(period: tooLong)
    run.process(tooLong)
    #expect(run.left[3200...].allSatisfy { $0 == 0 })
    #expect(engine.statistics.unpreparedPeriods == unprepared + 1)
    let isApplied = engine.drainReports().contains {
      if case .applied(ticket, _) = $0 { true } else { false }
    }
    #expect(isApplied)
    for _ in 0..<100 { run.process(64) }
    #expect(engine.statistics.unpreparedPeriods == unprepared + 1)
    let first = 3200 + tooLong
    let expected = directConvolution(signal, filters[0])[first...]
    let peak = expected.map(\.magnitude).max()!
    let error = zip(run.left[first...], expected).map { abs(Double($0) - $1) }.max()! / peak
    #expect(error <= 1e-6, "error \(error)")
  }

  @Test(
    "before it is heard, a new convolver has played at least seven periods, which pairs need",
    arguments: [16, 50, 80], [0, 1, 5])
  func playsUnheard(period: Int, late: Int) {
    var noise = SeededNoise(seed: 6)
    // At this rate, no period is played directly.
    let engine = Engine(
      playing: FilterSet(coefficients: noise.filters(microphones: 2, taps: 700)), period: 64, sampleRate: 1e7,
      fadeFrames: 960)
    var run = OfflineRun(engine, microphones: (0..<2).map { _ in noise.samples(10000) })
    for _ in 0..<50 { run.process(64) }
    engine.prepare(period: period)
    for _ in 0..<late { run.process(64) }
    var silent: Int
    repeat {
      silent = engine.statistics.unpreparedPeriods
      run.process(period)
    } while engine.statistics.unpreparedPeriods > silent
    #expect(run.left[(run.position - period)..<run.position].contains { $0 != 0 })
    // Seven unheard periods suffice (`hasStartedPairing`); the last of those counted was heard.
    #expect(engine.periodsPlayed >= 1 + 7)
  }

  @Test(
    "R26: through any sequence of periods, prepared or not, and of changes, the settings are heard as they are or mixed",
    arguments: 0..<20)
  func anySequence(seed: Int) throws {
    let (fade, taps, frames) = (200, 700, 30000)
    var noise = SeededNoise(seed: UInt64(100 + seed))
    let filters = (0..<3).map { _ in noise.filters(microphones: 3, taps: taps) }
    let signal = (0..<3).map { _ in noise.samples(frames + 2000) }
    let alone = filters.map { directConvolution(signal, $0[0]) }
    let engine = Engine(microphones: 3, taps: taps, sampleRate: 48000, fadeFrames: fade)
    let sets = filters.map { FilterSet(coefficients: $0) }
    engine.start(with: sets[0])
    let prepared = [16, 64, 100]
    engine.prepare(period: 16)
    var run = OfflineRun(engine, microphones: signal)
    var (period, requested) = (16, [Ticket: Int]())
    // The set that is heard from the end of each fade on.
    var heard: [(end: Int, set: Int)] = [(-fade, 0)]
    while run.position < frames {
      switch Int.random(in: 0..<100, using: &noise) {
      case 0, 1:
        let next = prepared.randomElement(using: &noise)!
        engine.prepare(period: next)
        for _ in 0..<Int.random(in: 0..<6, using: &noise) { run.process(period) }
        period = next
      case 2, 3:
        let set = Int.random(in: 0..<sets.count, using: &noise)
        requested[try engine.change(to: sets[set], gain: 1)] = set
      case 4:
        // Nothing was prepared for this one.
        run.process([period / 2, 2 * period, 12 * period].randomElement(using: &noise)!)
      default: run.process(period)
      }
      for case .applied(let ticket, let end) in engine.drainReports() {
        heard.append((end, requested[ticket]!))
      }
    }
    let peak = alone.flatMap { $0 }.map(\.magnitude).max()!
    var (error, compared) = (0.0, 0)
    for (last, next) in zip(heard, heard.dropFirst()) {
      for n in max(0, last.end)..<next.end {
        let t = Double(n - next.end + fade) + 0.5
        let weight = t < 0 ? 0 : 0.5 - 0.5 * cos(Double.pi * t / Double(fade))
        let expected = (1 - weight) * alone[last.set][n] + weight * alone[next.set][n]
        error = max(error, abs(Double(run.left[n]) - expected))
        compared += 1
      }
    }
    #expect(compared > 5000 && error <= 2e-6 * peak, "\(compared) frames, error \(error / peak)")
    #expect(engine.statistics.unpreparedPeriods == 0)
  }

  @Test("S22: a change of period mid-stream adds no discontinuity")
  func periodChangeCarriesTheHistoryOver() {
    var noise = SeededNoise(seed: 6)
    let filters = noise.filters(microphones: 2, taps: 700)
    let signal = (0..<2).map { _ in noise.samples(12000) }
    let engine = Engine(playing: FilterSet(coefficients: filters))
    var run = OfflineRun(engine, microphones: signal)
    for period in [64, 1024, 16, 441, 128, 4096, 48, 64] {
      engine.prepare(period: period)
      for _ in 0..<max(1, 300 / period) { run.process(period) }
    }
    let expected = directConvolution(signal, filters[0])
    let peak = expected.map(\.magnitude).max()!
    let error = zip(run.left, expected).map { abs(Double($0) - $1) }.max()! / peak
    #expect(error <= 1e-6, "error \(error)")
    #expect(engine.statistics.unpreparedPeriods == 0)
  }

  @Test("a convolver that was prepared while other filters played does not read those after they were freed")
  func preparedForFilterSetThatIsGone() throws {
    var noise = SeededNoise(seed: 8)
    let signals = (0..<2).map { _ in noise.samples(20_000) }
    let filters = noise.filters(microphones: 2, taps: 1300)
    let engine = Engine(microphones: 2, taps: 1300, sampleRate: 48000)
    weak var first: FilterSet?
    func play() {
      let set = FilterSet(coefficients: noise.filters(microphones: 2, taps: 1300))
      first = set
      engine.start(with: set)
    }
    play()
    try engine.useTail(block: 8, period: 32)
    engine.prepare(period: 64)
    var run = OfflineRun(engine, microphones: signals)
    for _ in 0..<100 { run.process(64) }
    engine.prepare(period: 32)
    _ = try engine.change(to: FilterSet(coefficients: filters), gain: 1)
    // The fade takes 15 periods, and its tail 7.
    for _ in 0..<24 { run.process(64) }
    _ = engine.drainReports()
    #expect(first == nil)
    let changed = run.left.count
    for _ in 0..<200 { run.process(32) }
    #expect(engine.statistics.unpreparedPeriods == 0)
    let expected = directConvolution(signals, filters[0])[changed...]
    let peak = expected.map(\.magnitude).max()!
    let error = zip(run.left[changed...], expected).map { abs(Double($0) - $1) }.max()! / peak
    #expect(error <= 1e-6, "error \(error)")
  }

  @Test(
    "where they cannot be played directly, unprepared periods, and those until the convolver has caught up, are silent and counted; the history survives them",
    arguments: [false, true])
  func unpreparedPeriods(direct: Bool) {
    var noise = SeededNoise(seed: 7)
    let filters = noise.filters(microphones: 1, taps: 200)
    let signal = [noise.samples(1000)]
    let engine = Engine(
      playing: FilterSet(coefficients: filters), period: 64, sampleRate: direct ? 48000 : 1e8,
      fadeFrames: 960)
    var run = OfflineRun(engine, microphones: signal)
    run.process(64)
    run.process(100)
    run.process(64)
    run.process(100)
    engine.prepare(period: 100)
    run.process(100)
    #expect(engine.statistics.unpreparedPeriods == (direct ? 0 : 3))
    let expected = directConvolution(signal, filters[0])
    for n in 0..<428 {
      let isSilent = !direct && (64..<328).contains(n)
      #expect(abs(Double(run.left[n]) - (isSilent ? 0 : expected[n])) < 1e-5)
    }
  }
}
