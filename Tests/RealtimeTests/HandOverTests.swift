import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

/// All hand-overs between the control side and a running callback, for the sanitizers and for the output.
@Suite("Hand-over to the callback", .serialized) struct HandOverTests {
  static let taps = 600
  static let periods = [16, 64, 100, 256, 1024]

  /// Filters that turn an input of ones into `constant`. Every tap contributes, so a missing or wrong
  /// partition changes the level.
  static func filters(_ constant: Float) -> FilterSet {
    let tap = constant / Float(2 * taps)
    return FilterSet(
      coefficients: [[[Float]]](
        repeating: [[Float]](repeating: [Float](repeating: tap, count: taps), count: 2), count: 2))
  }

  /// The output of one period.
  struct OutputPeriod {
    let frame: Int
    let count: Int
    let range: ClosedRange<Float>
    /// The period was not prepared, and is silent.
    let isUnprepared: Bool
  }

  /// The callback's thread: runs an engine with ones on both microphones, period by period.
  final class Callback: @unchecked Sendable {
    // Unchecked: `outputs` is only read after the thread has ended.
    let engine: Engine
    let period = Atomic<Int>(64)
    let stop = Atomic<Bool>(false)
    private(set) var outputs: [OutputPeriod] = []

    init(_ engine: Engine) { self.engine = engine }

    func run() {
      let (ones, left, right) = (Self.memory(1), Self.memory(0), Self.memory(0))
      defer { for memory in [ones, left, right] { memory.deallocate() } }
      var frame = 0
      var unprepared = 0
      let inputs: [UnsafePointer<Float>?] = [UnsafePointer(ones), UnsafePointer(ones)]
      inputs.withUnsafeBufferPointer { inputs in
        while !stop.load(ordering: .acquiring) {
          let count = period.load(ordering: .relaxed)
          let period = Period(
            frames: count, inputs: inputs.baseAddress!, left: left, right: right, timing: Timing())
          RealtimeContext.run { engine.process(period) }
          let silent = engine.statistics.unpreparedPeriods
          let sound = UnsafeBufferPointer(start: left, count: count)
          outputs.append(
            OutputPeriod(
              frame: frame, count: count, range: sound.min()!...sound.max()!,
              isUnprepared: silent > unprepared))
          unprepared = silent
          frame += count
        }
      }
    }

    private static func memory(_ value: Float) -> UnsafeMutablePointer<Float> {
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: 8192)
      memory.initialize(repeating: value, count: 8192)
      return memory
    }
  }

  @Test(
    "R13: while periods, filter sets and takes change under a running callback, each sample lies between the fading levels",
    .timeLimit(.minutes(10)))
  func everythingAtOnce() throws {
    let engine = Engine(microphones: 2, taps: Self.taps, sampleRate: 48000, fadeFrames: 100)
    // At periods of 16 with a tail, at others without.
    try engine.useTail(block: 8, period: 16)
    engine.start(with: Self.filters(0.5))
    engine.prepare(period: 64)
    let callback = Callback(engine)
    let threads = Threads()
    defer {
      callback.stop.store(true, ordering: .releasing)
      threads.wait()
    }
    threads.start { callback.run() }
    // The server: like JACK, it prepares a new period first. Sometimes another one follows at once.
    threads.start {
      var noise = SeededNoise(seed: 4)
      while !callback.stop.load(ordering: .acquiring) {
        for _ in 0...Int.random(in: 0...1, using: &noise) {
          engine.prepare(period: Self.periods.randomElement(using: &noise)!)
        }
        let next = Self.periods.randomElement(using: &noise)!
        engine.prepare(period: next)
        callback.period.store(next, ordering: .relaxed)
        usleep(UInt32.random(in: 0...10, using: &noise))
      }
    }
    // The input before the first frame is silence.
    try #require(waitUntil(seconds: 20) { engine.statistics.frames > 2 * Self.taps })
    var noise = SeededNoise(seed: 5)
    var requested: [UInt64: Float] = [:]
    var answered: Set<UInt64> = []
    /// Levels in the order in which they were in force, each with its first frame after the fade.
    var inForce: [(frame: Int, level: Float)] = [(0, 0.5)]
    func drainReports() {
      for report in engine.drainReports() {
        switch report {
        case .applied(let ticket, let frame):
          answered.insert(ticket.number)
          if let level = requested[ticket.number] { inForce.append((frame, level)) }
        case .superseded(let ticket), .refused(let ticket, _): answered.insert(ticket.number)
        default: break
        }
      }
    }
    var mixed = 0
    for _ in 0..<200 {
      // Only the engine keeps references to its sets and rings.
      for _ in 0..<3 {
        let constant = Float.random(in: 0.1...1, using: &noise)
        let gain: Float = Bool.random(using: &noise) ? 1 : 0.5
        if let ticket = try? engine.change(to: Self.filters(constant), gain: gain) {
          requested[ticket.number] = constant * gain
        }
      }
      let ring = TakeRing(outputs: 2, capacityFrames: 5000)
      _ = try engine.beginTake(into: ring)
      // A random number of frames.
      usleep(500)
      var position = 0
      var range: ClosedRange<Float>?
      ring.drain(
        position: &position,
        frames: { frames in
          // Unprepared periods are silent and counted.
          for sample in frames where sample != 0 {
            range =
              min(range?.lowerBound ?? sample, sample)...max(range?.upperBound ?? sample, sample)
          }
        }, gap: { _ in })
      if let range, range.upperBound - range.lowerBound > 2e-5 { mixed += 1 }
      _ = try engine.endTake()
      usleep(500)
      drainReports()
    }
    let isAnswered = waitUntil(seconds: 20) {
      drainReports()
      return answered.isSuperset(of: requested.keys)
    }
    callback.stop.store(true, ordering: .releasing)
    threads.wait()
    #expect(isAnswered)
    #expect(inForce.count > 50)
    #expect(mixed == 0, "takes that hold more than one sound")
    #expect(Self.outOfRange(callback.outputs, inForce) == [])
  }

  /// Periods with a sample outside the range of the levels in force, or fading, in them.
  static func outOfRange(_ outputs: [OutputPeriod], _ inForce: [(frame: Int, level: Float)]) -> [String] {
    var outOfRange: [String] = []
    var first = 0
    for period in outputs where period.frame > 2 * taps {
      if period.isUnprepared {
        if period.range != 0...0 { outOfRange.append("not silent: \(period)") }
        continue
      }
      while first + 1 < inForce.count, inForce[first + 1].frame <= period.frame { first += 1 }
      // The level in force at its start, all that became so during the period, and the one fading in at its end.
      var last = first
      while last + 1 < inForce.count, inForce[last + 1].frame < period.frame + period.count {
        last += 1
      }
      let levels = inForce[first...min(last + 1, inForce.count - 1)].map(\.level)
      if period.range.lowerBound < levels.min()! - 1e-5
        || period.range.upperBound > levels.max()! + 1e-5
      {
        outOfRange.append("\(period), not within \(levels)")
      }
    }
    return Array(outOfRange.prefix(5))
  }

  private func waitUntil(seconds: Double, _ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while !condition() {
      if .now > end { return false }
      usleep(500)
    }
    return true
  }
}
