import Realtime
import TestSupport
import Testing

@Suite("The take ring") struct TakeRingTests {
  /// An engine that plays a ramp, recorded into a ring that the caller drains.
  func take(capacity: Int, periods: Int, drainEvery: Int) throws -> (
    sound: [Float], gaps: [TakeGap], lost: Int
  ) {
    let engine = Engine(playing: FilterSet(coefficients: [[[1]]]), period: 64)
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
    let engine = Engine(playing: FilterSet(coefficients: [[[1]]]), period: Self.period)
    _ = try engine.beginTake(into: ring)
    return engine
  }

  /// Drains a ring that holds a ramp, as the disk thread does.
  struct Drained {
    var position = 0
    var gaps: [TakeGap] = []
    /// Frames and gaps at wrong positions.
    var misplaced = 0
    /// Whether the ramp skips what Pinna missed in stalls, or goes on.
    var skipsStalls = false
    var stalled = 0

    mutating func drain(_ ring: TakeRing, isLast: Bool = false) {
      var length = position
      ring.drain(
        position: &position, isLast: isLast,
        frames: { run in
          for sample in run {
            if abs(sample * 131_072 - Float(length - stalled)) > 0.1 { misplaced += 1 }
            length += 1
          }
        },
        gap: {
          if $0.start != length { misplaced += 1 }
          gaps.append($0)
          length += $0.frames
          if $0.cause == .stall, !skipsStalls { stalled += $0.frames }
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
    "R9: frames that the callback did not queue before it ended become the last gap, beside a stall with its own cause"
  )
  func callbackGoesInAStall() throws {
    let ring = TakeRing(outputs: 1, capacityFrames: 200)
    var run = OfflineRun(try recording(into: ring), microphones: [Self.ramp])
    for _ in 0..<2 { run.process(Self.period) }
    let stall = Timing.stall(700)
    // There is no room for this period.
    run.process(Self.period, timing: stall)
    var take = Drained()
    take.drain(ring, isLast: true)
    #expect(take.gaps.map(\.start) == [200, 900] && take.gaps.map(\.frames) == [700, 100])
    #expect(take.gaps.map(\.cause) == [.stall, .disk] && take.position == 1000)
  }

  @Test(
    "R9: a period that was late is written in its place, without the gap that its time told; other repeats are written"
  )
  func latePeriods() throws {
    let stall = Timing.stall(100)
    var again = Timing()
    again.repeatedFrames = Self.period
    let long = Timing.stall(250)
    var pause = Timing()
    pause.pausedMicroseconds = 60_000
    for (timings, gaps) in [
      // The time jumps, and then stands for a period.
      ([3: stall, 4: again], []),
      ([3: stall, 4: again, 6: stall, 7: again, 9: stall], [(900, 100)]),
      ([3: stall, 4: again, 6: long], [(600, 250)]),
      ([3: long, 4: again, 5: again, 7: long], [(300, 50), (750, 250)]),
      // Nothing was late.
      ([3: again, 6: stall], [(600, 100)]),
      // The repeat comes some periods after the stall, or after a pause of the server that followed it.
      ([3: stall, 5: again, 7: stall], [(700, 100)]),
      ([3: stall, 5: stall, 8: again, 10: long], [(300, 100), (1100, 250)]),
      ([3: stall, 4: pause, 8: again], [(400, 0)]), ([3: long, 4: pause, 8: again], [(300, 150), (550, 0)]),
    ] {
      let ring = TakeRing(outputs: 1, capacityFrames: 2000)
      let engine = try recording(into: ring)
      var run = OfflineRun(engine, microphones: [Self.ramp])
      var take = Drained()
      for n in 0..<12 {
        run.process(Self.period, timing: timings[n] ?? Timing())
        take.drain(ring)
      }
      _ = try engine.endTake()
      run.process(Self.period)
      take.drain(ring, isLast: true)
      #expect(take.gaps.map(\.start) == gaps.map(\.0) && take.gaps.map(\.frames) == gaps.map(\.1))
      #expect(take.position == 1200 + gaps.reduce(0) { $0 + $1.1 } && take.misplaced == 0)
    }
  }

  @Test(
    "R9: a stall stays one when a period is late 8192 frames after it, when many follow it, and when half the ring waits",
    arguments: zip(
      [(20_000, 3..<4, 84), (20_000, 3..<4, 86), (20_000, 3..<80, 82), (600, 3..<4, 7)], [0, 1, 14, 1]))
  func confirmedStalls(_ run: (capacity: Int, stalls: Range<Int>, repeated: Int), confirmed: Int) throws {
    let (capacity, stalls, repeated) = run
    let length = stalls.count > 1 ? 10 : 100
    var again = Timing()
    again.repeatedFrames = Self.period
    let ring = TakeRing(outputs: 1, capacityFrames: capacity)
    let engine = try recording(into: ring)
    var run = OfflineRun(engine, microphones: [Self.ramp])
    var take = Drained()
    for n in 0..<100 {
      if n == repeated { #expect(take.gaps.count == confirmed) }
      run.process(Self.period, timing: n == repeated ? again : stalls.contains(n) ? .stall(length) : Timing())
      take.drain(ring)
    }
    _ = try engine.endTake()
    run.process(Self.period)
    take.drain(ring, isLast: true)
    let left = stalls.dropLast(stalls.count > confirmed ? 100 / length : 0)
    #expect(take.gaps.map(\.start) == left.map { 100 * $0 + length * ($0 - 3) } && take.misplaced == 0)
  }

  @Test("R26: a substitution keeps its reported frame of the take, though the period before was late")
  func substitutionAfterALatePeriod() throws {
    var again = Timing()
    again.repeatedFrames = Self.period
    let ring = TakeRing(outputs: 1, capacityFrames: 2000)
    let engine = try recording(into: ring)
    var run = OfflineRun(engine, microphones: [Self.ramp])
    for n in 0..<3 { run.process(Self.period, timing: n == 2 ? .stall(100) : Timing()) }
    _ = try engine.substitute(FilterSet(coefficients: [[[0.5]]]), gain: 1)
    run.process(Self.period)
    run.process(Self.period, timing: again)
    let frames = engine.drainReports().compactMap { report -> Int? in
      if case .substituted(_, _, let takeFrame) = report { takeFrame } else { nil }
    }
    var take = Drained()
    take.drain(ring, isLast: true)
    #expect(frames == [400] && take.gaps.map(\.start) == [200] && take.position == 600)
  }

  @Test("a take records the samples that are played, though the buffers of the microphones change meanwhile")
  func captured() throws {
    let ring = TakeRing(outputs: 1, microphones: 2, capacityFrames: 200)
    let engine = Engine(playing: FilterSet(coefficients: [[[1], [2]]]), period: Self.period)
    _ = try engine.beginTake(into: ring)
    // As a client does that is late: here the engine itself writes into the microphones' buffers.
    var buffer = Array(Self.ramp[..<100] + Self.ramp[1000..<1100])
    buffer.withUnsafeMutableBufferPointer { buffer in
      let (left, right) = (buffer.baseAddress!, buffer.baseAddress! + Self.period)
      let inputs: [UnsafePointer<Float>?] = [UnsafePointer(left), UnsafePointer(right)]
      inputs.withUnsafeBufferPointer {
        engine.process(Period(frames: Self.period, inputs: $0.baseAddress!, left: left, right: right))
      }
    }
    var (position, frames) = (0, [Float]())
    ring.drain(position: &position, isLast: true, frames: { frames += Array($0) }, gap: { _ in })
    try #require(frames.count == 300)
    for n in 0..<100 {
      let (one, two) = (Self.ramp[n], Self.ramp[1000 + n])
      #expect(
        Array(frames[3 * n + 1...3 * n + 2]) == [one, two] && abs(frames[3 * n] - one - 2 * two) < 1e-7)
    }
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
    "R9: while the callback still runs, a last drain has each frame at its position, or a gap for it",
    arguments: [true, false])
  func lastDrainBesideTheCallback(skipsStalls: Bool) throws {
    let ramp = (0..<300).flatMap { n in
      let start = Self.period * (n + (skipsStalls ? (n + 5) / 9 : 0))
      return Self.ramp[start..<start + Self.period]
    }
    for round in 0..<200 {
      let ring = TakeRing(outputs: 1, capacityFrames: 300)
      let engine = try recording(into: ring)
      let threads = Threads()
      threads.start {
        var run = OfflineRun(engine, microphones: [ramp])
        var again = Timing()
        again.repeatedFrames = Self.period
        for n in 0..<300 {
          let isLate = !skipsStalls && n % 18 == 6
          run.process(Self.period, timing: n % 9 == 4 ? .stall(Self.period) : isLate ? again : Timing())
        }
      }
      var take = Drained(skipsStalls: skipsStalls)
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
