import Foundation
import Realtime
import TestSupport
import Testing

@Suite("Sanitizers") struct SanitizerTests {
  /// Hides an address from the optimiser.
  nonisolated(unsafe) static var kept: UnsafeMutableRawPointer?

  @Test(
    "R27: the sanitizer that guards these tests detects an allocation in the callback",
    .enabled(
      if: RealtimeContext.isSanitized
        || ProcessInfo.processInfo.environment["LD_PRELOAD"]?.contains("rtsan") == true,
      "it runs without RealtimeSanitizer; see make sanitize")
  )
  func sanitizerHearsAnAllocation() async {
    await #expect(processExitsWith: .exitCode(43)) {
      RealtimeContext.run { SanitizerTests.kept = malloc(100) }
    }
  }

  static func isRunning(_ sanitizer: String) -> Bool {
    dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__\(sanitizer)_init") != nil
  }

  @Test(
    "R27: the sanitizer that guards the queues detects two threads that write the same memory",
    .enabled(if: isRunning("tsan"), "it runs without ThreadSanitizer; see make sanitize"))
  func sanitizerHearsARace() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        // Two threads that nothing orders, whatever else runs; no queue, which may use one.
        var threads = [pthread_t(), pthread_t()]
        for n in threads.indices {
          pthread_create(
            &threads[n], nil,
            { _ in
              SanitizerTests.kept = UnsafeMutableRawPointer(bitPattern: 1)
              return nil
            }, nil)
        }
        for thread in threads { pthread_join(thread, nil) }
      })
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("data race"))
  }

  @Test(
    "R27: the sanitizer that guards the engine's memory detects a sample behind the end of a buffer",
    .enabled(if: isRunning("asan"), "it runs without AddressSanitizer; see make sanitize"))
  func sanitizerHearsAnOverrun() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 64)
        for n in 0...64 { buffer[n] = Float(n) }
        SanitizerTests.kept = UnsafeMutableRawPointer(buffer)
      })
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("heap-buffer-overflow"))
  }

  @Test(
    "R3, R13: every branch of the engine runs under random changes, takes, periods and invalid samples",
    arguments: ConvolutionTests.instructionSets)
  func everyBranch(_ set: InstructionSet) throws {
    var noise = SeededNoise(seed: 9)
    let engine = Engine(
      microphones: 3, taps: 600, sampleRate: 48000,
      preRoll: PreRoll(microphones: 3, capacityFrames: 1000), instructionSet: set)
    var sets = (0..<4).map { n in
      FilterSet(
        coefficients: [[[Float]]](
          repeating: [[Float]](repeating: [Float](repeating: Float(n) / 600, count: 600), count: 3),
          count: 2))
    }
    engine.prepare(period: 64)
    var run = OfflineRun(
      engine, microphones: (0..<3).map { m in (0..<1000).map { m == 2 && $0 == 700 ? .nan : 0.1 } },
      feedOutputs: 4)
    var period = 64
    let four = FilterSet(
      coefficients: [[[Float]]](
        repeating: [[Float]](repeating: [Float](repeating: 0.002, count: 600), count: 3), count: 4))
    var feed: Int?
    var (answers, direct) = (0, 0)
    var requested: Set<Ticket> = []
    func isAnswer(_ report: Report) -> Bool {
      switch report {
      case .applied(let ticket, _), .superseded(let ticket), .refused(let ticket, _):
        requested.contains(ticket)
      default: false
      }
    }
    for round in 0..<10_000 {
      if round % 5 == 0 {
        requested.insert(
          try engine.change(
            to: sets.randomElement(using: &noise)!, gain: Float.random(in: 0...1, using: &noise)))
      }
      if round % 200 == 50 {
        _ = try engine.beginTake(
          into: TakeRing(outputs: 2, capacityFrames: 3000), followingTransport: round % 400 == 50)
      }
      if round % 200 == 100 { _ = try engine.endTake() }
      // Between takes, which refuse it.
      if round % 200 == 120 {
        if let feed { _ = try engine.endFeed(feed) }
        feed = try engine.beginFeed(outputs: 4, firstOutput: 0)?.feed
      }
      // What is refused, or no longer there, is answered as superseded.
      if let feed, round % 7 == 3 {
        let change = try? engine.change(
          feed: feed, to: four, gain: 0.5, highPass: round % 2 == 0 ? 80 : nil)
        if let change { requested.insert(change) }
      }
      if round % 97 == 0 {
        period = [16, 48, 64, 100, 441, 1024, 4096].randomElement(using: &noise)!
        if round % 2 == 0 { engine.prepare(period: period) }
        sets[Int.random(in: 0..<4, using: &noise)] = FilterSet(
          coefficients: [[[Float]]](
            repeating: [[Float]](repeating: [Float](repeating: 0.001, count: 600), count: 3),
            count: 1))
      }
      var timing = Timing()
      timing.transport = Transport(isRolling: round % 60 < 20, frame: round)
      if !engine.isPrepared(period: period) { direct += 1 }
      run.process(period, timing: timing)
      answers += engine.drainReports().count(where: isAnswer)
    }
    engine.prepare(period: 64)
    for _ in 0..<100 { run.process(64) }
    answers += engine.drainReports().count(where: isAnswer)
    #expect(answers == requested.count, "every change is answered once")
    #expect(direct > 0)
    #expect(run.left.allSatisfy { $0.isFinite })
  }
}
