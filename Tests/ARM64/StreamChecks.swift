import Realtime
import TestSupport

/// What does not depend on the layout alone: the order of sums, changes of period, invalid samples, meters.
struct StreamChecks {
  func run(_ checks: inout Checks) {
    for (microphones, taps) in [(3, 300), (9, 300), (5, 1024)] {
      startDoesNotMatter(microphones, taps, &checks)
    }
    periodsChange(&checks)
    outputsOfOneChannelAreEqual(&checks)
    invalidSamplesAreSilent(&checks)
    metersMeasure(&checks)
  }

  /// Without a tail, the output has the same bits whatever the engine heard before.
  private func startDoesNotMatter(_ microphones: Int, _ taps: Int, _ checks: inout Checks) {
    let period = 64
    var noise = SeededNoise(seed: 5)
    let filters = FilterSet(coefficients: noise.filters(microphones: microphones, taps: taps))
    let signal = (0..<microphones).map { _ in noise.samples(2 * taps + 20 * period) }
    var first: [Float] = []
    for silentPeriods in [0, 1, 2, 7] {
      let engine = Engine(microphones: microphones, taps: taps, sampleRate: 48000)
      engine.start(with: filters)
      let silence = [Float](repeating: 0, count: silentPeriods * period)
      var run = OfflineRun(engine, microphones: signal.map { silence + $0 })
      run.run(total: silence.count + signal[0].count, period: period)
      let output = Array(run.left[silence.count...])
      if silentPeriods == 0 { first = output }
      checks.expect(
        differences(output, first) == 0 && first.contains { $0 != 0 },
        "\(microphones) microphones, \(taps) taps: other bits after \(silentPeriods) silent periods")
    }
  }

  /// Through changes of period, for which a convolver computes the past, the output remains the convolution.
  private func periodsChange(_ checks: inout Checks) {
    var noise = SeededNoise(seed: 6)
    let frames = 6400
    let signal = (0..<3).map { _ in noise.samples(frames) }
    let filters = noise.filters(microphones: 3, taps: 700)
    let engine = Engine(microphones: 3, taps: 700, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: filters))
    var run = OfflineRun(engine, microphones: signal)
    for (end, period) in [(1280, 16), (2560, 64), (3560, 100), (5608, 256), (frames, 44)] {
      run.run(wholePeriodsTo: end, period: period)
    }
    let heard = run.left.count
    checks.expect(frames - heard < 44, "changes of period: \(heard) frames of \(frames)")
    for (output, filters) in [(run.left, filters[0]), (run.right, filters[1])] {
      checks.expect(
        output, near: Array(directConvolution(signal, filters)[..<heard]), "changes of period")
    }
  }

  private func outputsOfOneChannelAreEqual(_ checks: inout Checks) {
    var noise = SeededNoise(seed: 8)
    let engine = Engine(microphones: 5, taps: 256, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: [noise.filters(microphones: 5, taps: 256)[0]]))
    var run = OfflineRun(engine, microphones: (0..<5).map { _ in noise.samples(2000) })
    run.run(total: 2000, period: 64)
    checks.expect(differences(run.left, run.right) == 0, "left and right of one channel differ")
  }

  /// A microphone that sends NaN or infinity is silent from there on.
  private func invalidSamplesAreSilent(_ checks: inout Checks) {
    for invalid in [Float.nan, .infinity, -.infinity, 1001] {
      var noise = SeededNoise(seed: 9)
      var signal = (0..<2).map { _ in noise.samples(2000) }
      let filters = noise.filters(microphones: 2, taps: 100)
      let engine = Engine(microphones: 2, taps: 100, sampleRate: 48000)
      engine.start(with: FilterSet(coefficients: filters))
      var given = signal
      given[1][777] = invalid
      var run = OfflineRun(engine, microphones: given)
      run.run(total: 2000, period: 64)
      for n in 777..<2000 { signal[1][n] = 0 }
      checks.expect(run.left, near: directConvolution(signal, filters[0]), "invalid samples")
      checks.expect(engine.statistics.rejectedSamples == 1, "invalid samples: not counted")
    }
  }

  /// RMS and peak of a constant.
  private func metersMeasure(_ checks: inout Checks) {
    let engine = Engine(microphones: 1, taps: 1, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: [[[0.5]]]))
    var run = OfflineRun(engine, microphones: [[Float](repeating: -0.5, count: 24000)])
    run.run(total: 24000, period: 100)
    let (input, output) = (engine.levels[0], engine.levels[1])
    checks.expect(
      abs(input.rms - 0.5) < 1e-5 && input.peak == 0.5, "the meter of a constant of -0.5 is wrong")
    checks.expect(
      abs(output.rms - 0.25) < 1e-5 && abs(output.peak - 0.25) < 1e-5, "the meter of an output is wrong")
  }
}
