import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

@Suite("Playback in the engine") struct PlaybackTests {
  static let fade = 100

  /// An engine that passes its microphone through, and a run over a microphone of ones.
  func start(period: Int = 64, frames: Int = 20_000) -> (engine: Engine, run: OfflineRun) {
    let engine = Engine(playing: scaling(1), period: period, fadeFrames: Self.fade)
    return (engine, OfflineRun(engine, microphones: [[Float](repeating: 1, count: frames)]))
  }

  func ring(_ left: [Float], _ right: [Float]? = nil, finished: Bool = true) -> PlaybackRing {
    let ring = PlaybackRing(capacityFrames: 20_000)
    ring.write(left: left, right: right ?? left)
    if finished { ring.finish() }
    return ring
  }

  /// Whether these are the microphone's samples: 1 within the FFT's rounding error.
  func isMicrophone(_ samples: some Collection<Float>) -> Bool {
    samples.allSatisfy { abs($0 - 1) < 1e-6 }
  }

  /// The raised cosine `n` frames after its start.
  func rise(_ n: Int) -> Double {
    0.5 - 0.5 * cos(Double.pi * (Double(n) + 0.5) / Double(Self.fade))
  }

  @Test(
    "a take fades in over the microphones, plays bit for bit, and fades out before its last frame",
    arguments: [16, 64, 100, 441])
  func wholeTake(period: Int) throws {
    var (engine, run) = start(period: period)
    var noise = SeededNoise(seed: 31)
    let (left, right) = (noise.samples(3000, amplitude: 0.5), noise.samples(3000, amplitude: 0.5))
    run.process(period)
    let ring = ring(left, right)
    let ticket = try engine.beginPlayback(of: ring)
    while run.position < 6000 { run.process(period) }
    #expect(engine.drainReports() == [.playbackEnded(ticket)])
    // The fade-out begins with the first period that would leave less than a fade.
    let out = stride(from: 0, to: 3000, by: period).first { 3000 - $0 <= Self.fade + period }!
    for (heard, take) in [(run.left, left), (run.right, right)] {
      let played = Array(heard[period...])
      for n in 0..<Self.fade {
        let up = rise(n) * Double(take[n]) + (1 - rise(n))
        let down = (1 - rise(n)) * Double(take[out + n]) + rise(n)
        #expect(abs(Double(played[n]) - up) < 1e-6 && abs(Double(played[out + n]) - down) < 1e-6)
      }
      let isItself = played[Self.fade..<out].elementsEqual(take[Self.fade..<out])
      let isOver = isMicrophone(played[(out + Self.fade)...])
      #expect(isItself && isOver && isMicrophone(heard[..<period]))
    }
    #expect(
      ring.missedFrames == 0 && ring.framesPlayed <= 3000 && ring.framesPlayed >= out + Self.fade)
  }

  @Test("a take stopped during its fade-in fades out from the level it has reached")
  func stoppedEarly() throws {
    var (engine, run) = start(period: 16)
    let ticket = try engine.beginPlayback(of: ring([Float](repeating: 0, count: 5000)))
    for _ in 0..<3 { run.process(16) }
    try engine.endPlayback()
    try engine.endPlayback()
    while run.position < 480 { run.process(16) }
    // The microphone's gain is 1 − rise.
    for n in 0..<48 {
      #expect(abs(Double(run.left[n]) - (1 - rise(n))) < 1e-6)
      #expect(abs(Double(run.left[48 + n]) - (1 - rise(47 - n))) < 1e-6)
    }
    #expect(isMicrophone(run.left[96...]))
    #expect(engine.drainReports() == [.playbackEnded(ticket)])
  }

  @Test("an underrun is silence of its exact length, counted, and no frame is skipped")
  func lateDisk() throws {
    var (engine, run) = start()
    let ramp = (1...2000).map { Float($0) }
    let ring = ring(Array(ramp[..<1000]), finished: false)
    _ = try engine.beginPlayback(of: ring)
    while run.position < 20 * 64 { run.process(64) }
    #expect(ring.missedFrames == 280 && ring.framesPlayed == 1000)
    #expect(!engine.hasPlayback(frames: 1))
    ring.write(left: ramp[1000...], right: ramp[1000...])
    #expect(engine.hasPlayback(frames: 1000) && !engine.hasPlayback(frames: 1001))
    ring.finish()
    #expect(engine.hasPlayback(frames: 1001))
    while run.position < 40 * 64 { run.process(64) }
    let expected = ramp[100..<1000] + [Float](repeating: 0, count: 280) + ramp[1000..<1800]
    #expect(run.left[100..<2080].elementsEqual(expected))
    #expect(ring.missedFrames == 280)
  }

  @Test("while a take plays, another one ends at once, and the first continues")
  func oneAtATime() throws {
    var (engine, run) = start()
    let first = try engine.beginPlayback(of: ring([Float](repeating: 0.25, count: 2000)))
    let second = try engine.beginPlayback(of: ring([Float](repeating: 0.75, count: 2000)))
    while run.position < 640 { run.process(64) }
    #expect(engine.drainReports() == [.playbackEnded(second)])
    #expect(run.left[Self.fade..<640].allSatisfy { $0 == 0.25 })
    while run.position < 4000 { run.process(64) }
    #expect(engine.drainReports() == [.playbackEnded(first)] && isMicrophone(run.left.suffix(64)))
    let third = try engine.beginPlayback(of: ring([0.5]))
    run.process(64)
    // Shorter than a fade: it is inaudible.
    #expect(engine.drainReports() == [.playbackEnded(third)] && isMicrophone(run.left.suffix(64)))
  }

  @Test(
    "every frame of a disk thread that races the callback plays once, in order, left and right together",
    .timeLimit(.minutes(10)))
  func diskAgainstCallback() throws {
    let total = min(10 * RaceTests.attempts, 500_000)
    let engine = Engine(playing: FilterSet(coefficients: [[[1]]]), period: 64, fadeFrames: 1)
    let threads = Threads()
    let heard = Mutex<(frames: [Float], missed: Int, apart: Int)>(([], 0, 0))
    for round in 0..<4 {
      let ring = PlaybackRing(capacityFrames: 1000)
      let ticket = try engine.beginPlayback(of: ring)
      let stop = Atomic<Bool>(false)
      let end = ContinuousClock.now + .seconds(60)
      threads.start {
        var noise = SeededNoise(seed: UInt64(round))
        var next = 1
        while next <= total / 4, .now < end {
          let count = min(
            Int.random(in: 1...300, using: &noise), ring.freeFrames, total / 4 - next + 1)
          if count == 0 { sched_yield() }
          let block = (next..<next + count).map { Float($0) }
          ring.write(left: block, right: block.map { -$0 })
          next += count
        }
        ring.finish()
      }
      threads.start {
        var run = OfflineRun(engine, microphones: [[]])
        while !stop.load(ordering: .acquiring) {
          run.process(64)
          sched_yield()
          if run.position % 64_000 != 0 { continue }
          take(run)
          run.discardOutput()
        }
        take(run)
      }
      @Sendable func take(_ run: OfflineRun) {
        heard.withLock {
          $0.frames += run.left.filter { $0 != 0 }
          $0.missed += run.left.count { $0 == 0 }
          $0.apart += zip(run.left, run.right).count { $0 != -$1 }
        }
      }
      var ended = false
      while !ended, .now < end {
        ended = engine.drainReports().contains(.playbackEnded(ticket))
        usleep(1000)
      }
      stop.store(true, ordering: .releasing)
      threads.wait()
      #expect(ended)
      let (frames, missed, apart) = heard.withLock { heard in
        defer { heard = ([], 0, 0) }
        return heard
      }
      #expect(apart == 0)
      // Except the first, which is partly faded in, and the last, which is partly faded out.
      let inOrder = frames.dropFirst().dropLast().enumerated().allSatisfy { $1 == Float($0 + 2) }
      #expect(inOrder && frames.count > total / 4 - 130 && frames.count <= total / 4)
      #expect(ring.framesPlayed >= frames.count && ring.framesPlayed <= total / 4)
      #expect(missed >= ring.missedFrames)
    }
  }
}
