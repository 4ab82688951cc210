import Realtime
import TestSupport

/// The engine's output beside direct convolution in double precision: every layout that it has kernels for.
struct ConvolutionChecks {
  struct Shape {
    let microphones: Int
    let taps: Int
    let period: Int

    var text: String { "\(microphones) microphones, \(taps) taps, period \(period)" }
  }

  /// Transforms of 16 to 8192 points over time; one microphone to 64; periods that fill a window and others; filters of one
  /// tap, of a whole number of periods and others.
  static let shapes: [Shape] =
    [
      (1, 1, 64), (2, 63, 64), (2, 65, 64), (3, 300, 64), (4, 512, 64), (9, 97, 64),
      (33, 97, 64), (64, 97, 64), (5, 256, 16), (20, 128, 16), (5, 200, 25), (5, 200, 32), (5, 256, 48),
      (6, 256, 100), (7, 300, 128), (8, 512, 128), (16, 1024, 128), (3, 97, 256), (5, 97, 441), (4, 65, 1000),
      (3, 65, 2048), (2, 33, 4096),
      (1, 17, 8192),
      // With tails in blocks of 8, then in blocks of 8 and 16.
      (1, 31 * 16 + 1, 16), (2, 1023, 16), (9, 40 * 16 + 1, 16), (20, 33 * 16, 16), (5, 40 * 25 + 1, 25),
      (3, 1300, 32), (16, 1100, 32), (1, 2600, 64), (3, 4095, 64), (1, 4300, 128),
    ].map { Shape(microphones: $0.0, taps: $0.1, period: $0.2) }

  /// Of whole periods.
  private static let matchedShapes = [(32, 1024, 128), (64, 320, 64), (64, 512, 128), (16, 1024, 64)].map {
    Shape(microphones: $0.0, taps: $0.1, period: $0.2)
  }

  var layouts = 0
  var largestError = 0.0
  /// Kinds of layout that were seen: lanes as microphones or not, times the tail's blocks of 0, 8 and 16 partitions.
  private var kinds: Set<Int> = []

  mutating func run(_ checks: inout Checks) {
    for shape in Self.shapes {
      var noise = SeededNoise(seed: UInt64(shape.microphones * 10_000 + shape.taps))
      let frames = 2 * shape.taps + 2 * shape.period + 50
      let microphones = (0..<shape.microphones).map { _ in noise.samples(frames) }
      let filters = noise.filters(microphones: shape.microphones, taps: shape.taps)
      matchesDirectConvolution(shape, microphones, filters, &checks)
    }
    for shape in Self.matchedShapes { matchedFilters(shape, &checks) }
    checks.expect(kinds.count == 6, "\(kinds.count) kinds of layout instead of 6")
  }

  /// Filters that resemble the signal: in one period, every partition meets the samples that it consists of, and the
  /// largest products are added.
  private mutating func matchedFilters(_ shape: Shape, _ checks: inout Checks) {
    var noise = SeededNoise(seed: UInt64(shape.microphones + shape.taps))
    let (period, partitions) = (shape.period, shape.taps / shape.period)
    let microphones = (0..<shape.microphones).map { _ in noise.samples((partitions + 3) * period) }
    let filters: [[[Float]]] = [partitions + 1, partitions + 2].map { meeting in
      microphones.map { signal in
        (0..<partitions).flatMap { signal[((meeting - $0) * period)..<((meeting - $0 + 1) * period)] }
      }
    }
    matchesDirectConvolution(shape, microphones, filters, &checks)
  }

  /// Compares the output of every layout with direct convolution.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`.
  ///   - filters: shape `[output][microphone][tap]`.
  private mutating func matchesDirectConvolution(
    _ shape: Shape, _ microphones: [[Float]], _ filters: [[[Float]]], _ checks: inout Checks
  ) {
    let expected = filters.map { directConvolution(microphones, $0) }
    func engine() -> Engine { Engine(microphones: shape.microphones, taps: shape.taps, sampleRate: 48000) }
    for layout in engine().layouts(period: shape.period) {
      let engine = engine()
      engine.layoutOverride = layout
      engine.start(with: FilterSet(coefficients: filters))
      var run = OfflineRun(engine, microphones: microphones)
      run.run(total: microphones[0].count, period: shape.period)
      let text = "\(shape.text), \(layout.text)"
      for (output, expected) in [(run.left, expected[0]), (run.right, expected[1])] {
        largestError = max(largestError, checks.expect(output, near: expected, text))
      }
      checks.expect(layout.lanes == 4, "\(text): not four lanes")
      kinds.insert(layout.block / 8 * 2 + (layout.lanesAreMicrophones ? 1 : 0))
      layouts += 1
    }
    flush()
  }
}

extension ConvolverLayout {
  var text: String {
    "\(lanes) lanes of \(lanesAreMicrophones ? "microphones" : "bins"), "
      + (block > 0 ? "tail in blocks of \(block)" : "no tail")
  }
}
