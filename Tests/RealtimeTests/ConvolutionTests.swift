import FasterKernels
import Realtime
import TestSupport
import Testing

@Suite("Convolution") struct ConvolutionTests {
  struct Shape: CustomTestStringConvertible, Sendable {
    let microphones: Int
    let taps: Int
    let period: Int
    /// Of the tail; nil for the layout that the engine chooses.
    var block: Int?

    var testDescription: String {
      "\(microphones) microphones, \(taps) taps, period \(period)"
        + (block.map { ", tail in blocks of \($0)" } ?? "")
    }

    func engine(_ set: InstructionSet? = nil, fadeFrames: Int? = nil) throws -> Engine {
      let engine = Engine(
        microphones: microphones, taps: taps, sampleRate: 48000, fadeFrames: fadeFrames, instructionSet: set)
      if let block { try engine.useTail(block: block, period: period) }
      return engine
    }

    /// Noise for every microphone, `[microphone][frame]`, and filters of noise, `[output][microphone][tap]`.
    func noise(seed: Int, frames: Int) -> (microphones: [[Float]], filters: [[[Float]]]) {
      var noise = SeededNoise(seed: UInt64(seed))
      let microphones = (0..<self.microphones).map { _ in noise.samples(frames) }
      return (microphones, noise.filters(microphones: self.microphones, taps: taps))
    }

    /// The left outputs of engines that have played silence for so many periods before.
    func outputs(afterPeriods idle: [Int], _ set: InstructionSet? = nil, frames: Int) throws -> [[Float]] {
      let (signal, filters) = noise(seed: 5, frames: frames)
      let played = FilterSet(coefficients: filters)
      return try idle.map { idlePeriods in
        let engine = try engine(set)
        engine.start(with: played)
        let silence = [Float](repeating: 0, count: idlePeriods * period)
        var run = OfflineRun(engine, microphones: signal.map { silence + $0 })
        run.run(total: silence.count + frames, period: period)
        return Array(run.left[silence.count...])
      }
    }
  }

  static let shapes: [Shape] =
    [16, 32, 48, 64, 100, 128, 256, 441, 480, 512, 1000, 1024, 2048, 4096].map {
      Shape(microphones: 5, taps: 256, period: $0)
    } + (1...64).map { Shape(microphones: $0, taps: 97, period: 64) }
    + [1, 2, 5, 8, 9, 16, 33, 64].flatMap { microphones in
      [16, 100, 441, 4096].map { Shape(microphones: microphones, taps: 65, period: $0) }
    }
    + [1, 2, 63, 64, 65, 255, 511, 1023, 2049].map { Shape(microphones: 2, taps: $0, period: 64) }
    // Lengths around the shortest with a tail, and longer.
    + [31 * 16, 31 * 16 + 1, 33 * 16, 40 * 16, 40 * 16 + 1, 1023].map {
      Shape(microphones: 9, taps: $0, period: 16)
    } + [1, 3, 8, 16, 33].map { Shape(microphones: $0, taps: 1300, period: 32) }

  static let instructionSets: [InstructionSet] = {
    FasterKernels.register()
    return InstructionSet.available
  }()

  @Test(
    "R26: output is the direct convolution to within 1e-6 of its peak, at every instruction set",
    arguments: shapes, instructionSets)
  func matchesDirectConvolution(_ shape: Shape, _ set: InstructionSet) {
    let (microphones, filters) = shape.noise(
      seed: shape.microphones * 10_000 + shape.taps, frames: max(2 * shape.taps, 2 * shape.period) + 100)
    let engine = Engine(playing: FilterSet(coefficients: filters), instructionSet: set)
    Self.expect(engine, shape, microphones, filters.map { directConvolution(microphones, $0) })
  }

  @Test(
    "R26: every layout's output is the direct convolution to within 1e-6 of its peak, at every instruction set",
    arguments: [
      Shape(microphones: 1, taps: 512, period: 16), Shape(microphones: 2, taps: 1023, period: 16),
      Shape(microphones: 3, taps: 4095, period: 64), Shape(microphones: 9, taps: 40 * 16 + 1, period: 16),
      Shape(microphones: 5, taps: 1601, period: 50), Shape(microphones: 20, taps: 1100, period: 32),
    ], instructionSets)
  func everyLayoutMatchesDirectConvolution(_ shape: Shape, _ set: InstructionSet) {
    let (microphones, filters) = shape.noise(
      seed: shape.microphones * 10_000 + shape.taps, frames: 2 * shape.taps + 40 * shape.period)
    let layouts = Self.expectAllLayoutsMatch(shape, set, microphones, filters)
    #expect(layouts.contains { $0.block > 0 } && layouts.count > 2)
  }

  /// Compares an engine's output with what is expected.
  static func expect(_ engine: Engine, _ shape: Shape, _ microphones: [[Float]], _ expected: [[Double]]) {
    var run = OfflineRun(engine, microphones: microphones)
    run.run(total: microphones[0].count, period: shape.period)
    for (output, expected) in zip([run.left, run.right], expected) {
      let peak = expected.map(\.magnitude).max()!
      let error = zip(output, expected).map { abs(Double($0) - $1) }.max()! / peak
      #expect(error <= 1e-6, "\(engine.layoutOverride as Any): error \(error)")
    }
  }

  /// Compares the output of every layout with direct convolution.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`.
  ///   - filters: shape `[output][microphone][tap]`.
  static func expectAllLayoutsMatch(
    _ shape: Shape, _ set: InstructionSet, _ microphones: [[Float]], _ filters: [[[Float]]]
  ) -> [ConvolverLayout] {
    let expected = filters.map { directConvolution(microphones, $0) }
    func engine() -> Engine {
      Engine(microphones: shape.microphones, taps: shape.taps, sampleRate: 48000, instructionSet: set)
    }
    let layouts = engine().layouts(period: shape.period)
    for layout in layouts {
      let engine = engine()
      engine.layoutOverride = layout
      engine.start(with: FilterSet(coefficients: filters))
      expect(engine, shape, microphones, expected)
    }
    return layouts
  }

  @Test(
    "R26: filters that resemble the signals of many microphones stay within 1e-6 of the peak, in every layout",
    arguments: [
      Shape(microphones: 63, taps: 1024, period: 256), Shape(microphones: 32, taps: 1024, period: 128),
      Shape(microphones: 64, taps: 320, period: 64), Shape(microphones: 64, taps: 512, period: 128),
    ], instructionSets)
  func matchedFilters(_ shape: Shape, _ set: InstructionSet) {
    // Every partition of a filter meets, in one period, the same samples in the signal: squares of real and imaginary parts
    // grow with the number of products, and their difference does not.
    var noise = SeededNoise(seed: UInt64(shape.microphones + shape.taps))
    let (period, partitions) = (shape.period, shape.taps / shape.period)
    let frames = (partitions + 3) * period
    let microphones = (0..<shape.microphones).map { _ in noise.samples(frames) }
    let filters: [[[Float]]] = [partitions + 1, partitions + 2].map { meeting in
      microphones.map { signal in
        (0..<partitions).flatMap { (partition: Int) -> ArraySlice<Float> in
          signal[((meeting - partition) * period)..<((meeting - partition + 1) * period)]
        }
      }
    }
    #expect(Self.expectAllLayoutsMatch(shape, set, microphones, filters).count > 1)
  }

  @Test(
    "R26: sums of thousands of partitions stay within 1e-6 of their peak, at every instruction set",
    arguments: [
      Shape(microphones: 64, taps: 8191, period: 16),
      Shape(microphones: 16, taps: 4095, period: 64),
      Shape(microphones: 64, taps: 1023, period: 128),
      Shape(microphones: 24, taps: 2047, period: 32),
      Shape(microphones: 1, taps: 8191, period: 32),
      Shape(microphones: 8, taps: 4097, period: 1000),
    ], instructionSets)
  func longFilters(_ shape: Shape, _ set: InstructionSet) {
    let frames = shape.taps + 600
    let (microphones, filters) = shape.noise(seed: shape.taps, frames: frames)
    let engine = Engine(playing: FilterSet(coefficients: filters), instructionSet: set)
    var run = OfflineRun(engine, microphones: microphones)
    run.run(total: frames, period: shape.period)
    // The last frames, to which every tap contributes.
    var peak = 0.0
    var error = 0.0
    for n in stride(from: frames - 300, to: frames, by: 3) {
      var expected = 0.0
      for (signal, filter) in zip(microphones, filters[1]) {
        for k in 0..<shape.taps { expected += Double(signal[n - k]) * Double(filter[k]) }
      }
      peak = max(peak, expected.magnitude)
      error = max(error, abs(Double(run.right[n]) - expected))
    }
    #expect(error / peak <= 1e-6, "error \(error / peak)")
  }

  @Test(
    "a unit impulse comes out in the same callback, at the frame of its tap",
    arguments: [16, 48, 128, 1000])
  func impulseIsNotAPeriodLate(period: Int) {
    let delay = 64
    var filter = [Float](repeating: 0, count: 256)
    filter[delay] = 1
    let engine = Engine(playing: FilterSet(coefficients: [[filter]]))
    var input = [Float](repeating: 0, count: 2000)
    input[3] = 1
    var run = OfflineRun(engine, microphones: [input])
    run.run(total: 2000, period: period)
    for n in 0..<2000 {
      #expect(abs(run.left[n] - (n == delay + 3 ? 1 : 0)) <= 1e-6)
    }
  }

  /// One for each path of the kernels: lanes as bins and as microphones, with and without pairing, sums in chunks.
  static let layouts: [Shape] = [
    Shape(microphones: 3, taps: 300, period: 64), Shape(microphones: 3, taps: 1024, period: 128),
    Shape(microphones: 9, taps: 300, period: 64), Shape(microphones: 7, taps: 992, period: 32),
    Shape(microphones: 20, taps: 480, period: 16), Shape(microphones: 64, taps: 640, period: 48),
  ]
  /// The same for filters with a tail.
  static let longLayouts: [Shape] = [
    Shape(microphones: 3, taps: 2113, period: 64), Shape(microphones: 7, taps: 4300, period: 128),
    Shape(microphones: 7, taps: 1057, period: 32), Shape(microphones: 20, taps: 700, period: 16),
    Shape(microphones: 9, taps: 1600, period: 48),
  ].flatMap { shape in
    [8, 16].map { Shape(microphones: shape.microphones, taps: shape.taps, period: shape.period, block: $0) }
  }

  @Test(
    "left and right of a set with one channel are identical", arguments: layouts + longLayouts,
    instructionSets)
  func oneChannelIsOne(_ shape: Shape, _ set: InstructionSet) throws {
    var noise = SeededNoise(seed: 8)
    let filter = noise.filters(microphones: shape.microphones, taps: shape.taps)[0]
    let engine = try shape.engine(set)
    engine.start(with: FilterSet(coefficients: [filter]))
    let frames = 2 * shape.taps
    var run = OfflineRun(
      engine, microphones: (0..<shape.microphones).map { _ in noise.samples(frames) })
    run.run(total: frames, period: shape.period)
    #expect(run.left.contains { $0 != 0 })
    #expect((0..<frames).first { run.left[$0] != run.right[$0] } == nil)
  }

  @Test(
    "without a tail, the output does not depend on the phase of the schedule",
    arguments: layouts,
    instructionSets)
  func summationDoesNotDependOnThePhase(_ shape: Shape, _ set: InstructionSet) throws {
    let outputs = try shape.outputs(
      afterPeriods: [0, 1, 2, 3, 7, 18], set, frames: 2 * shape.taps + 20 * shape.period)
    #expect(outputs[0].contains { $0 != 0 })
    for other in outputs.dropFirst() { #expect(differences(other, outputs[0]) == 0) }
  }

  @Test(
    "the output does not depend on when the engine joined the stream",
    arguments: layouts + longLayouts,
    instructionSets)
  func summationDoesNotDependOnTheStart(_ shape: Shape, _ set: InstructionSet) throws {
    var noise = SeededNoise(seed: 5)
    let filters = FilterSet(
      coefficients: noise.filters(microphones: shape.microphones, taps: shape.taps))
    let late = 19 * shape.period
    // The output must not contain input from before the later engine joined.
    let heard = late + 2 * shape.taps
    let frames = heard + 20 * shape.period
    let signal = (0..<shape.microphones).map { _ in noise.samples(frames) }
    let outputs = try [0, 1, 2, 3, 7, 18].map { (missedPeriods: Int) -> [Float] in
      let engine = try shape.engine(set)
      engine.start(with: filters)
      let missed = missedPeriods * shape.period
      var run = OfflineRun(
        engine, microphones: signal.map { Array($0[missed...]) }, firstFrame: missed)
      run.run(total: frames - missed, period: shape.period)
      return Array(run.left[(heard - missed)...])
    }
    #expect(outputs[0].contains { $0 != 0 })
    for other in outputs.dropFirst() { #expect(differences(other, outputs[0]) == 0) }
  }

  @Test(
    "R26: after a crossfade the output is as if the new set had played all along",
    arguments: layouts + longLayouts)
  func crossfadeEndsInTheSameSamples(_ shape: Shape) throws {
    FasterKernels.register()
    var noise = SeededNoise(seed: 8)
    let sets = (0..<2).map { _ in
      FilterSet(
        coefficients: noise.filters(microphones: shape.microphones, taps: shape.taps))
    }
    let frames = 110 * shape.period
    let signal = (0..<shape.microphones).map { _ in noise.samples(frames) }
    // From the second to the first and back again; then the second alone.
    let outputs = try [[1, 0, 1], [1]].map { order in
      let engine = try shape.engine(fadeFrames: 5 * shape.period + 7)
      engine.start(with: sets[order[0]])
      engine.prepare(period: shape.period)
      var run = OfflineRun(engine, microphones: signal)
      for next in order.dropFirst() {
        for _ in 0..<25 { run.process(shape.period) }
        _ = try engine.change(to: sets[next], gain: 1)
      }
      while run.position < frames { run.process(shape.period) }
      return Array(run.right[(80 * shape.period)...])
    }
    #expect(outputs[0].contains { $0 != 0 })
    #expect(differences(outputs[0], outputs[1]) == 0)
  }
}
