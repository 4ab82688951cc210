import Foundation
import Realtime
import TestSupport
import Testing

/// Filters with a tail. A new set forms its tail over as many periods as the tail's blocks have, and its fade begins in
/// the last of them.
@Suite("Filters with a tail") struct LongFilterTests {
  static let period = 16
  static let taps = 700
  static let blocks = [8, 16]
  static let fade = 200

  /// An engine that has played `filters` (or silence if nil) over noise for a long time, and its input signals.
  static func engine(_ filters: FilterSet?, seed: UInt64, fadeFrames: Int = fade, block: Int) throws -> (
    Engine, OfflineRun
  ) {
    var noise = SeededNoise(seed: seed)
    let engine = Engine(microphones: 3, taps: taps, sampleRate: 48000, fadeFrames: fadeFrames)
    try engine.useTail(block: block, period: period)
    if let filters { engine.start(with: filters) }
    engine.prepare(period: period)
    var run = OfflineRun(engine, microphones: (0..<3).map { _ in noise.samples(8000) })
    while run.position < 2000 { run.process(period) }
    return (engine, run)
  }

  static func filters(seed: UInt64) -> FilterSet {
    var noise = SeededNoise(seed: seed)
    return FilterSet(coefficients: noise.filters(microphones: 3, taps: taps))
  }

  /// The gain of the new set in frame `n` of a fade requested in frame `requested`.
  static func weight(_ n: Int, requested: Int, wait: Int) -> Double {
    let t = Double(n - requested - wait) + 0.5
    return t < 0 ? 0 : t > Double(fade) ? 1 : 0.5 - 0.5 * cos(Double.pi * t / Double(fade))
  }

  static func expect(_ run: OfflineRun, _ expected: (Int) -> Double, frames: Range<Int>) {
    let peak = frames.map { abs(expected($0)) }.max()!
    let error = frames.map { abs(Double(run.left[$0]) - expected($0)) }.max()!
    #expect(peak > 0 && error <= 2e-6 * peak, "error \(error / peak)")
  }

  @Test(
    "R26: a fade between two filter sets with tails mixes their separate outputs, sample by sample",
    arguments: blocks)
  func fadeMixesTheTwo(block: Int) throws {
    let wait = (block - 1) * Self.period
    var (_, first) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    var (_, second) = try Self.engine(Self.filters(seed: 2), seed: 9, block: block)
    var (engine, run) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    let requested = run.position
    let ticket = try engine.change(to: Self.filters(seed: 2), gain: 1)
    for _ in 0..<100 {
      first.process(Self.period)
      second.process(Self.period)
      run.process(Self.period)
    }
    Self.expect(
      run,
      {
        let weight = Self.weight($0, requested: requested, wait: wait)
        return (1 - weight) * Double(first.left[$0]) + weight * Double(second.left[$0])
      }, frames: 1000..<run.position)
    #expect(engine.drainReports() == [.applied(ticket, frame: requested + wait + Self.fade)])
    let end = requested + wait + 2 * Self.fade
    #expect(differences(run.left[end...], second.left[end...]) == 0)
  }

  @Test("the first set fades in from silence, which lasts until its tail is formed", arguments: blocks)
  func fadeFromSilence(block: Int) throws {
    let wait = (block - 1) * Self.period
    var (_, alone) = try Self.engine(Self.filters(seed: 2), seed: 9, block: block)
    var (engine, run) = try Self.engine(nil, seed: 9, block: block)
    let requested = run.position
    _ = try engine.change(to: Self.filters(seed: 2), gain: 0.5)
    for _ in 0..<100 {
      alone.process(Self.period)
      run.process(Self.period)
    }
    #expect(run.left[..<(requested + wait)].allSatisfy { $0 == 0 })
    Self.expect(
      run, { 0.5 * Self.weight($0, requested: requested, wait: wait) * Double(alone.left[$0]) },
      frames: requested..<run.position)
  }

  @Test("a change of gain alone begins at once", arguments: blocks)
  func gainWaitsForNothing(block: Int) throws {
    let filters = Self.filters(seed: 1)
    var (_, alone) = try Self.engine(filters, seed: 9, block: block)
    var (engine, run) = try Self.engine(filters, seed: 9, block: block)
    let requested = run.position
    let ticket = try engine.change(to: filters, gain: 0)
    for _ in 0..<40 {
      alone.process(Self.period)
      run.process(Self.period)
    }
    Self.expect(
      run, { (1 - Self.weight($0, requested: requested, wait: 0)) * Double(alone.left[$0]) },
      frames: requested..<run.position)
    #expect(engine.drainReports() == [.applied(ticket, frame: requested + Self.fade)])
  }

  @Test(
    "S13: a take requested during a change begins after the fade; without fades, when the tail is formed",
    arguments: blocks)
  func takesWait(block: Int) throws {
    let wait = (block - 1) * Self.period
    for fadeFrames in [Self.fade, 0] {
      var (engine, run) = try Self.engine(
        Self.filters(seed: 1), seed: 9, fadeFrames: fadeFrames, block: block)
      let requested = run.position
      let change = try engine.change(to: Self.filters(seed: 2), gain: 1)
      let take = try engine.beginTake(into: TakeRing(outputs: 2, capacityFrames: 48000))
      for _ in 0..<60 { run.process(Self.period) }
      let applied = requested + wait + fadeFrames
      // The take begins with the period after the one in which the change ends.
      let began = (applied + Self.period - (fadeFrames == 0 ? 0 : 1)) / Self.period * Self.period
      #expect(
        engine.drainReports() == [.applied(change, frame: applied), .takeBegan(take, frame: began)])
    }
  }

  @Test(
    "a change of period while a tail is formed loses neither the change nor the output",
    arguments: [64, 100], blocks)
  func periodChanges(period: Int, block: Int) throws {
    var (_, first) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    var (_, second) = try Self.engine(Self.filters(seed: 2), seed: 9, block: block)
    var (engine, run) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    let requested = run.position
    _ = try engine.change(to: Self.filters(seed: 2), gain: 1)
    for _ in 0..<3 { run.process(Self.period) }
    engine.prepare(period: period)
    let changed = run.position
    while run.position < requested + 1000 { run.process(period) }
    while first.position < run.position {
      first.process(Self.period)
      second.process(Self.period)
    }
    // No wait: filters of eleven periods have no tail.
    Self.expect(
      run,
      {
        let weight = Self.weight($0, requested: changed, wait: 0)
        return (1 - weight) * Double(first.left[$0]) + weight * Double(second.left[$0])
      }, frames: requested..<run.position)
    #expect(engine.drainReports().count == 1)
  }

  @Test(
    "after a change of period during a fade to a set that the new convolver was not prepared for, the output is exact, also until the tail is complete",
    arguments: blocks)
  func periodChangesInAFade(block: Int) throws {
    let (longPeriod, fade) = (64, 2000)
    var (_, first) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    var (_, second) = try Self.engine(Self.filters(seed: 2), seed: 9, block: block)
    var noise = SeededNoise(seed: 9)
    let engine = Engine(playing: Self.filters(seed: 1), period: longPeriod, fadeFrames: fade)
    var run = OfflineRun(engine, microphones: (0..<3).map { _ in noise.samples(8000) })
    while run.position < 2048 { run.process(longPeriod) }
    try engine.useTail(block: block, period: Self.period)
    engine.prepare(period: Self.period)
    let requested = run.position
    let ticket = try engine.change(to: Self.filters(seed: 2), gain: 1)
    run.process(longPeriod)
    let changed = run.position
    while run.position < requested + fade + 500 { run.process(Self.period) }
    while first.position < run.position {
      first.process(Self.period)
      second.process(Self.period)
    }
    #expect(engine.statistics.unpreparedPeriods == 0)
    Self.expect(
      run,
      {
        let t = Double($0 - requested) + 0.5
        let weight = t > Double(fade) ? 1 : 0.5 - 0.5 * cos(Double.pi * t / Double(fade))
        return (1 - weight) * Double(first.left[$0]) + weight * Double(second.left[$0])
      }, frames: changed..<run.position)
    #expect(engine.drainReports().contains(.applied(ticket, frame: requested + fade)))
  }

  @Test("a set at the address of a freed set forms its own tail", arguments: blocks)
  func sameAddress(block: Int) throws {
    let wait = (block - 1) * Self.period
    var (engine, run) = try Self.engine(Self.filters(seed: 1), seed: 9, block: block)
    for round in 0..<20 {
      let requested = run.position
      let ticket = try engine.change(to: Self.filters(seed: UInt64(round)), gain: 1)
      for _ in 0..<40 { run.process(Self.period) }
      #expect(engine.drainReports() == [.applied(ticket, frame: requested + wait + Self.fade)])
    }
  }

  @Test(
    "delaying the input by some periods changes the output by at most 1e-6 of its peak",
    arguments: ConvolutionTests.longLayouts)
  func laterIsTheSame(_ shape: ConvolutionTests.Shape) throws {
    let outputs = try shape.outputs(afterPeriods: [0, 3], frames: 2 * shape.taps)
    let peak = outputs[0].map(\.magnitude).max()!
    let error = zip(outputs[0], outputs[1]).map { abs($0 - $1) }.max()!
    #expect(peak > 0 && error <= 1e-6 * peak, "error \(error / peak)")
  }
}
