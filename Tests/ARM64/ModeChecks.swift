import CRealtime
import Realtime
import TestSupport

/// The callback's floating-point mode, which treats denormals as zero.
struct ModeChecks {
  /// The bit FZ of the register FPCR.
  private static let flushToZero: UInt64 = 1 << 24

  private static let denormal = Float.leastNormalMagnitude / 100

  private var isSet: Bool { pinna_floating_point_mode() & Self.flushToZero != 0 }

  // Not optimised: the compiler, for which no mode exists, would reuse an earlier result.

  @inline(never) @_optimize(none)
  private func product(_ a: Float, _ b: Float) -> Float { a * b }

  @inline(never) @_optimize(none)
  private func vectorSum(_ a: Float) -> Float { pinna_add(.init(repeating: a), .init(repeating: a)).x }

  func run(_ checks: inout Checks) {
    let before = pinna_floating_point_mode()
    checks.expect(!isSet, "the mode was set at the start")
    checks.expect(product(1e-20, 1e-20) != 0, "a product was flushed to zero before the mode was set")
    changeOfPeriodRestoresTheMode(&checks)
    flushDenormalsToZero()
    checks.expect(isSet, "the mode is not set")
    checks.expect(product(1e-20, 1e-20) == 0, "a denormal result is not zero")
    checks.expect(product(Self.denormal, 1e30) == 0, "a denormal operand does not count as zero")
    checks.expect(vectorSum(Self.denormal) == 0, "a denormal operand of a vector does not count as zero")
    checks.expect(product(1e-20, 1e-10) != 0, "a normal result is zero")
    denormalInputIsSilence(&checks)
    pinna_set_floating_point_mode(before)
    checks.expect(product(1e-20, 1e-20) != 0, "the mode cannot be reset")
  }

  /// The thread that prepares a period computes the past in the callback's mode, and has its own afterwards.
  private func changeOfPeriodRestoresTheMode(_ checks: inout Checks) {
    let before = pinna_floating_point_mode()
    let engine = Engine(microphones: 2, taps: 100, sampleRate: 48000)
    var noise = SeededNoise(seed: 4)
    engine.start(with: FilterSet(coefficients: noise.filters(microphones: 2, taps: 100)))
    var run = OfflineRun(engine, microphones: (0..<2).map { _ in noise.samples(500) })
    checks.expect(isSet, "an offline run does not set the mode")
    run.run(total: 400, period: 64)
    pinna_set_floating_point_mode(before)
    engine.prepare(period: 100)
    checks.expect(!isSet, "preparing a period leaves the mode changed")
  }

  private func denormalInputIsSilence(_ checks: inout Checks) {
    let engine = Engine(microphones: 2, taps: 100, sampleRate: 48000)
    var noise = SeededNoise(seed: 4)
    engine.start(with: FilterSet(coefficients: noise.filters(microphones: 2, taps: 100)))
    var run = OfflineRun(
      engine, microphones: [[Float]](repeating: [Float](repeating: Self.denormal, count: 640), count: 2))
    run.run(total: 640, period: 64)
    checks.expect(run.left.allSatisfy { $0 == 0 }, "denormal input is heard")
  }
}
