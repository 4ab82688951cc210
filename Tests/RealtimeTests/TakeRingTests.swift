import Realtime
import TestSupport
import Testing

@Suite struct TakeRingTests {
  /// An engine that plays a ramp, recorded into a ring that the caller drains as it likes.
  func take(capacity: Int, periods: Int, drainEvery: Int) throws -> (
    sound: [Float], gaps: [TakeGap], lost: Int
  ) {
    let engine = Engine(microphones: 1, taps: 1, sampleRate: 48000)
    engine.start(with: FilterSet(coefficients: [[[1]], [[1]]], channels: 1))
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

  @Test("What fits comes out whole and in order, across the ring's end")
  func keepsOrder() throws {
    let (sound, gaps, lost) = try take(capacity: 200, periods: 100, drainEvery: 1)
    #expect(gaps.isEmpty && lost == 0)
    #expect(sound.count == 6400)
    for (n, sample) in sound.enumerated() { #expect(abs(sample * 65536 - Float(n)) < 0.1) }
  }

  @Test("R9: what does not fit leaves a gap of its exact length in its exact place")
  func overflowIsAGapOfTheRightLength() throws {
    let (sound, gaps, lost) = try take(capacity: 200, periods: 100, drainEvery: 7)
    #expect(!gaps.isEmpty)
    #expect(gaps.map(\.frames).reduce(0, +) == lost)
    #expect(gaps.allSatisfy { $0.frames % 64 == 0 && $0.start % 64 == 0 })
    #expect(sound.count == 6400)
    for (n, sample) in sound.enumerated() where sample != -1 { #expect(abs(sample * 65536 - Float(n)) < 0.1) }
  }

  @Test("that there is no memory for is an error, and not the end of the program")
  func noMemory() {
    // No process has 2⁴⁸ bytes of address space.
    #expect(throws: OutOfMemory.self) { try TakeRing(outputs: 1, microphones: 1, reservingFrames: 1 << 45) }
    #expect(throws: OutOfMemory.self) { try PlaybackRing(reservingFrames: 1 << 45) }
  }
}
