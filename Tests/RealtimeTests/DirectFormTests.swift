import Realtime
import TestSupport
import Testing

/// What is heard in periods that no convolver was prepared for.
@Suite("Periods played directly") struct DirectFormTests {
  static let lengths = [16, 17, 64, 100, 256, 441, 1024, 4096, 8192]
  static let microphones = 3

  /// Three microphones, filters for two outputs, and what they give.
  static let (signal, filters, exact) = {
    var noise = SeededNoise(seed: 11)
    let filters = noise.filters(microphones: microphones, taps: 300)
    let signal = (0..<microphones).map { _ in noise.samples(6 * 8192) }
    return (signal, filters, filters.map { directConvolution(signal, $0) })
  }()

  static func error(_ output: [Float], _ exact: [Double]) -> Double {
    zip(output, exact).map { abs(Double($0) - $1) }.max()! / exact.map(\.magnitude).max()!
  }

  @Test(
    "after any change of period that nothing prepares, and back, the outputs are exact",
    arguments: ConvolutionTests.instructionSets, lengths)
  func everyChange(set: InstructionSet, prepared: Int) {
    for period in Self.lengths where period != prepared {
      let engine = Engine(
        playing: FilterSet(coefficients: Self.filters), period: prepared, instructionSet: set)
      var run = OfflineRun(engine, microphones: Self.signal)
      for length in [prepared, period, prepared] {
        run.process(length)
        run.process(length)
      }
      let error = max(Self.error(run.left, Self.exact[0]), Self.error(run.right, Self.exact[1]))
      #expect(error <= 1e-6, "\(prepared), \(period): \(error)")
      #expect(engine.statistics.unpreparedPeriods == 0)
    }
  }

  @Test(
    "a mono pattern is heard on both outputs alike, and every output of a feed has its filters",
    arguments: [1, 4, 5])
  func outputs(count: Int) {
    var noise = SeededNoise(seed: 12)
    let filters = (0..<count).map { _ in noise.filters(microphones: Self.microphones, taps: 300)[0] }
    let engine = Engine(playing: FilterSet(coefficients: [Self.filters[0]]))
    _ = engine.startFeed(with: FilterSet(coefficients: filters), firstOutput: 0, gain: 0.5)
    var run = OfflineRun(engine, microphones: Self.signal.map { Array($0.prefix(3000)) }, feedOutputs: count)
    for _ in 0..<30 { run.process(100) }
    #expect(run.left == run.right)
    #expect(Self.error(run.left, Self.exact[0]) <= 1e-6)
    let sound = Self.signal.map { Array($0.prefix(3000)) }
    for (output, filter) in zip(run.feeds, filters) {
      #expect(Self.error(output, directConvolution(sound, filter).map { 0.5 * $0 }) <= 1e-6)
    }
  }

  @Test("what would take more than the bound is silent and counted, feed by feed from main on")
  func bound() {
    let set = FilterSet(coefficients: Self.filters)
    // Four lanes.
    let baseline = InstructionSet.baseline
    let perFrame = Double(2 * Self.microphones * 300)
    for (feeds, silent) in [(0.99, 2), (1.01, 1), (1.99, 1), (2.01, 0)] {
      let engine = Engine(
        playing: set, sampleRate: 4e9 / perFrame / feeds, fadeFrames: 0,
        instructionSet: baseline)
      _ = engine.startFeed(with: set, firstOutput: 0, gain: 1)
      var run = OfflineRun(engine, microphones: Self.signal, feedOutputs: 2)
      for _ in 0..<10 { run.process(64) }
      #expect(run.left.contains { $0 != 0 } == (silent < 2), "\(feeds)")
      #expect(run.feeds[0].contains { $0 != 0 } == (silent < 1), "\(feeds)")
      #expect(engine.statistics.unpreparedPeriods == (silent > 0 ? 10 : 0), "\(feeds)")
    }
  }
}
