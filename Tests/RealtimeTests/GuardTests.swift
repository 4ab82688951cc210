import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

@Suite("Microphones that send invalid samples", .serialized) struct GuardTests {
  static let rate = 48000.0
  static let garbage: [Float] = [
    .nan, .signalingNaN, .infinity, -.infinity, 1e6, -1e6, .greatestFiniteMagnitude,
  ]

  /// Three microphones, mixed to both outputs unchanged. Only the first ever sends invalid samples.
  func engine(period: Int) -> Engine {
    let engine = Engine(microphones: 3, taps: 64, sampleRate: Self.rate)
    var filters = [[[Float]]](
      repeating: [[Float]](repeating: [Float](repeating: 0, count: 64), count: 3), count: 2)
    for output in 0..<2 { for microphone in 0..<3 { filters[output][microphone][0] = 1 } }
    engine.start(with: FilterSet(coefficients: filters))
    engine.prepare(period: period)
    return engine
  }

  /// Noise on all three, with `garbage` in the first from frame 1000 to 2000.
  func signals(_ garbage: Float, seconds: Double = 3) -> (given: [[Float]], noise: [[Float]]) {
    let noise = SeededNoise.channels(3, Int(seconds * Self.rate), amplitude: 0.25, seed: 14)
    var given = noise
    for n in stride(from: 1000, through: 2000, by: 10) { given[0][n] = garbage }
    return (given, noise)
  }

  @Test(
    "R14: invalid samples never reach the outputs, and the microphone fades back after a clean second",
    arguments: garbage)
  func garbageIsMuted(_ garbage: Float) throws {
    let (given, noise) = signals(garbage)
    let engine = engine(period: 128)
    var run = OfflineRun(engine, microphones: given)
    while run.position < 2048 { run.process(128) }
    let muted = (0..<3).map { engine.isMuted(microphone: $0) }
    #expect(muted == [true, false, false])
    #expect(engine.statistics.rejectedSamples == 101)
    run.run(total: given[0].count, period: 128)
    #expect(!engine.isMuted(microphone: 0))
    #expect(run.left.allSatisfy { $0.isFinite })
    let others = zip(noise[1], noise[2]).map { $0 + $1 }
    // Convolution in single precision: well below 1e-5 for three channels of 0.25.
    func apart(_ range: Range<Int>, from expected: [Float]) -> Float {
      range.map { (run.left[$0] - expected[$0]).magnitude }.max()!
    }
    let all = zip(others, noise[0]).map { $0 + $1 }
    #expect(apart(0..<1000, from: all) < 1e-5)
    // Silent from the first invalid sample until one second after the last; at full level 20 ms later.
    #expect(apart(1000..<2000 + 48_000, from: others) < 1e-5)
    #expect(apart(2001 + 48_960..<given[0].count, from: all) < 1e-5)
    // No step: a fade of 20 ms changes by less than a fiftieth of the amplitude in 0.2 ms.
    let fade = (50_000..<50_961).map { (run.left[$0] - others[$0]) / noise[0][$0] }
    let steps = zip(fade, fade.dropFirst()).enumerated().filter {
      noise[0][50_000 + $0.offset].magnitude > 0.02
    }
    #expect(steps.allSatisfy { ($0.element.1 - $0.element.0).magnitude < 0.02 })
    if garbage == .infinity {
      Faults.report(
        "R14", done: "infinity on one microphone: frames that were not finite", measured: "0",
        limit: "0",
        kept: run.left.allSatisfy { $0.isFinite })
    }
  }

  @Test("R14: muting gives the same samples at every period", arguments: [16, 100, 441, 4096])
  func periods(_ period: Int) throws {
    let (given, _) = signals(.nan)
    let outputs = [128, period].map { period in
      var run = OfflineRun(engine(period: period), microphones: given)
      run.run(total: given[0].count, period: period)
      return run.left
    }
    let apart = zip(outputs[0], outputs[1]).map { ($0 - $1).magnitude }.max()!
    // Rounding errors of FFTs of different sizes, at a peak of 0.75.
    #expect(apart <= 1e-6, "\(apart)")
  }

  @Test(
    "R14: invalid samples cost at most a tenth more time than valid ones",
    .enabled(if: Faults.areHeavy, "a time against another; make faults measures it"),
    arguments: [.nan, .leastNormalMagnitude / 300, 1e6] as [Float])
  func cost(_ garbage: Float) throws {
    var random = SeededNoise(seed: 3)
    let filters = random.filters(microphones: 8, taps: 512)
    let noise = (0..<8).map { _ in random.samples(128 * 400, amplitude: 0.25) }
    var bad = noise
    bad[0] = bad[0].indices.map { $0 % 3 == 0 ? garbage : noise[0][$0] }
    if garbage.isSubnormal { bad[0] = bad[0].map { _ in garbage } }
    func run(_ signals: [[Float]]) -> OfflineRun {
      let engine = Engine(playing: FilterSet(coefficients: filters), period: 128, sampleRate: Self.rate)
      return OfflineRun(engine, microphones: signals)
    }
    func time(_ run: inout OfflineRun) -> Duration {
      ContinuousClock().measure { for _ in 0..<8 { run.process(128) } }
    }
    // Eight periods of one beside eight of the other, some 0.3 ms each: what else the machine does changes little between.
    var ratios: [Double] = []
    for _ in 0..<15 {
      var (sound, broken) = (run(noise), run(bad))
      for _ in 0..<50 {
        let valid = time(&sound)
        ratios.append(time(&broken) / valid)
      }
    }
    let ratio = ratios.sorted()[ratios.count / 2]
    #expect(ratio <= 1.1, "\(ratio)")
    Faults.report(
      "R14",
      done:
        "\(garbage.isSubnormal ? "subnormals" : "\(garbage)") on one of 8 microphones: time against sound",
      measured: String(format: "%.2f ×", ratio), limit: "≤ 1.1 ×", kept: ratio <= 1.1)
  }

  @Test(
    "R14: the guard decides by its copy and searches for a vanished invalid sample only within the period",
    .timeLimit(.minutes(10)))
  func decidesOnTheCopy() {
    let microphoneGuard = MicrophoneGuard(microphones: 1, sampleRate: 48_000)
    let ring = UnsafeMutablePointer<Float>.allocate(capacity: 256)
    defer { ring.deallocate() }
    ring.initialize(repeating: 0.5, count: 256)
    ring[110] = .nan
    microphoneGuard.apply(0, frames: 64, rejected: 1, ring: ring, start: 100, mask: 255)
    let isMuted = microphoneGuard.isMuted(0)
    #expect(isMuted)
    // An invalid sample was counted in the next period, but the copy has none.
    for _ in 0..<3 {
      for n in 0..<256 { ring[n] = 0.5 }
      microphoneGuard.apply(0, frames: 64, rejected: 1, ring: ring, start: 240, mask: 255)
      let silent = (240..<304).allSatisfy { ring[$0 & 255] == 0 }
      #expect(silent && ring[48] == 0.5 && ring[239] == 0.5)
      let isMuted = microphoneGuard.isMuted(0)
      #expect(isMuted)
    }
  }

  @Test(
    "R14: a port that is written while it is read lets no invalid sample through",
    .enabled(if: getenv("TSAN_OPTIONS") == nil, "it is a deliberate race"), .timeLimit(.minutes(10))
  )
  func writerWritesOn() {
    let engine = engine(period: 64)
    // Atomic, so that the compiler keeps every store.
    let samples = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 64)
    for n in 0..<64 { (samples + n).initialize(to: Atomic(Float(0.5).bitPattern)) }
    let output = UnsafeMutablePointer<Float>.allocate(capacity: 128)
    defer {
      samples.deallocate()
      output.deallocate()
    }
    let input = UnsafeRawPointer(samples).assumingMemoryBound(to: Float.self)
    output.initialize(repeating: 0, count: 128)
    let stop = Atomic<Bool>(false)
    let threads = Threads()
    let writer = UInt(bitPattern: samples)
    threads.start {
      let samples = UnsafeMutablePointer<Atomic<UInt32>>(bitPattern: writer)!
      var noise = SeededNoise(seed: 1)
      while !stop.load(ordering: .relaxed) {
        let n = Int.random(in: 0..<64, using: &noise)
        for value in [Float.infinity, 0.5] {
          samples[n].store(value.bitPattern, ordering: .relaxed)
          for _ in 0..<Int.random(in: 0..<20, using: &noise) {
            _ = samples[n].load(ordering: .relaxed)
          }
        }
      }
    }
    var wrong = 0
    let inputs: [UnsafePointer<Float>?] = [input, nil, nil]
    inputs.withUnsafeBufferPointer { inputs in
      for _ in 0..<100_000 {
        engine.process(
          Period(
            frames: 64, inputs: inputs.baseAddress!, left: output, right: output + 64,
            timing: Timing()))
        for n in 0..<128 where !(output[n].magnitude <= 1) { wrong += 1 }
      }
    }
    stop.store(true, ordering: .relaxed)
    threads.wait()
    #expect(wrong == 0)
    #expect(engine.statistics.rejectedSamples > 0)
  }
}
