import Realtime
import TestSupport
import Testing

@Suite("The take ring") struct TakeRingTests {
  /// An engine that plays a ramp, recorded into a ring that the caller drains.
  func take(capacity: Int, periods: Int, drainEvery: Int) throws -> (
    sound: [Float], gaps: [TakeGap], lost: Int
  ) {
    let engine = Engine(microphones: 1, taps: 1, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: [[[1]]]))
    engine.prepare(period: 64)
    let ramp = (0..<periods * 64).map { Float($0) / 65536 }
    var run = OfflineRun(engine, microphones: [ramp])
    let ring = TakeRing(outputs: 1, capacityFrames: capacity)
    _ = try engine.beginTake(into: ring)
    var sound: [Float] = []
    var gaps: [TakeGap] = []
    var position = 0
    func drain() {
      ring.drain(
        position: &position, frames: { sound += Array($0) },
        gap: {
          gaps.append($0)
          sound += [Float](repeating: -1, count: $0.frames)
        })
    }
    for n in 1...periods {
      run.process(64)
      if n % drainEvery == 0 { drain() }
    }
    _ = try engine.endTake()
    run.process(64)
    drain()
    return (sound, gaps, ring.lostFrames)
  }

  @Test("frames that fit come out complete and in order, across the ring's end")
  func keepsOrder() throws {
    let (sound, gaps, lost) = try take(capacity: 200, periods: 100, drainEvery: 1)
    #expect(gaps.isEmpty && lost == 0)
    #expect(sound.count == 6400)
    for (n, sample) in sound.enumerated() { #expect(abs(sample * 65536 - Float(n)) < 0.1) }
  }

  @Test("R9: an overrun leaves a gap of its exact length at its exact position")
  func overflowIsAGapOfTheRightLength() throws {
    let (sound, gaps, lost) = try take(capacity: 200, periods: 100, drainEvery: 7)
    #expect(!gaps.isEmpty)
    #expect(gaps.map(\.frames).reduce(0, +) == lost)
    #expect(gaps.allSatisfy { $0.frames % 64 == 0 && $0.start % 64 == 0 })
    #expect(sound.count == 6400)
    for (n, sample) in sound.enumerated() where sample != -1 {
      #expect(abs(sample * 65536 - Float(n)) < 0.1)
    }
  }

  static let period = 100
  static let ramp = (0..<100_000).map { Float($0) / 131_072 }

  /// An engine that plays a ramp and records it in mono.
  func recording(into ring: TakeRing) throws -> Engine {
    let engine = Engine(microphones: 1, taps: 1, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: [[[1]]]))
    engine.prepare(period: Self.period)
    _ = try engine.beginTake(into: ring)
    return engine
  }

  /// Drains a ring that holds a ramp, as the disk thread does.
  struct Drained {
    var position = 0
    var gaps: [TakeGap] = []
    /// Frames and gaps at wrong positions.
    var misplaced = 0

    mutating func drain(_ ring: TakeRing, isLast: Bool = false) {
      var length = position
      ring.drain(
        position: &position, isLast: isLast,
        frames: { run in
          for sample in run {
            if abs(sample * 131_072 - Float(length)) > 0.1 { misplaced += 1 }
            length += 1
          }
        },
        gap: {
          if $0.start != length { misplaced += 1 }
          gaps.append($0)
          length += $0.frames
        })
    }
  }

  @Test("R9: frames lost when the callback ends without finishing the take become the last gap")
  func callbackGoes() throws {
    let ring = TakeRing(outputs: 1, capacityFrames: 200)
    var run = OfflineRun(try recording(into: ring), microphones: [Self.ramp])
    for _ in 0..<4 { run.process(Self.period) }
    var take = Drained()
    take.drain(ring, isLast: true)
    #expect(take.gaps.map(\.start) == [200] && take.gaps.map(\.frames) == [200])
    #expect(take.gaps.map(\.cause) == [.disk] && ring.lostFrames == 200)
    #expect(take.position == 400 && take.misplaced == 0)
  }

  @Test(
    "R9: a stall that the callback did not queue before it ended becomes the last gap, with cause stall"
  )
  func callbackGoesInAStall() throws {
    let ring = TakeRing(outputs: 1, capacityFrames: 200)
    var run = OfflineRun(try recording(into: ring), microphones: [Self.ramp])
    run.process(Self.period)
    var stall = Timing()
    stall.skippedFrames = 700
    stall.isRepeat = true
    run.process(Self.period, timing: stall)
    var take = Drained()
    take.drain(ring, isLast: true)
    #expect(take.gaps.map(\.start) == [100] && take.gaps.map(\.frames) == [700])
    #expect(take.gaps.map(\.cause) == [.stall] && take.position == 800)
  }

  @Test("R9: a queued gap is drained once")
  func endedTake() throws {
    let ring = TakeRing(outputs: 1, capacityFrames: 200)
    let engine = try recording(into: ring)
    var run = OfflineRun(engine, microphones: [Self.ramp])
    for _ in 0..<3 { run.process(Self.period) }
    _ = try engine.endTake()
    run.process(Self.period)
    var take = Drained()
    take.drain(ring, isLast: true)
    #expect(take.gaps.map(\.frames) == [100] && take.position == 300)
  }

  @Test(
    "R9: while the callback still runs, a last drain has each frame at its position, or a gap for it"
  )
  func lastDrainBesideTheCallback() throws {
    for round in 0..<200 {
      let ring = TakeRing(outputs: 1, capacityFrames: 300)
      let engine = try recording(into: ring)
      let threads = Threads()
      threads.start {
        var run = OfflineRun(engine, microphones: [Self.ramp])
        for _ in 0..<300 { run.process(Self.period) }
      }
      var take = Drained()
      for _ in 0..<round % 10 { take.drain(ring) }
      take.drain(ring, isLast: true)
      threads.wait()
      #expect(take.misplaced == 0 && take.gaps.allSatisfy { $0.frames % Self.period == 0 })
    }
  }

  @Test("a ring too large for the memory is an error, and does not end the program")
  func noMemory() {
    // No process has 2⁴⁸ bytes of address space.
    #expect(throws: OutOfMemory.self) {
      try TakeRing(outputs: 1, microphones: 1, reservingFrames: 1 << 45)
    }
    #expect(throws: OutOfMemory.self) { try PreRoll(microphones: 1, reservingFrames: 1 << 45) }
    #expect(throws: OutOfMemory.self) { try PlaybackRing(reservingFrames: 1 << 45) }
  }
}
