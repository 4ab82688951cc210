import Realtime
import TestSupport
import Testing

@Suite("Takes that follow the transport, in the callback") struct TransportTakeTests {
  /// An engine without fades in force, and a run over one microphone whose samples count frames.
  private func run(preRollFrames: Int = 0) -> OfflineRun {
    let engine = Engine(
      microphones: 1, taps: 16, sampleRate: 48000, fadeFrames: 0,
      preRoll: PreRoll(microphones: 1, capacityFrames: preRollFrames), instructionSet: .baseline)
    engine.prepare(period: 64)
    return OfflineRun(engine, microphones: [(0..<10_000).map { Float($0 + 1) / 16_384 }])
  }

  /// The same with fades, over noise.
  private func fadingRun() -> (Engine, FilterSet, OfflineRun) {
    var noise = SeededNoise(seed: 4)
    let filters = FilterSet(coefficients: noise.filters(microphones: 1, taps: 16))
    let engine = Engine(playing: filters, period: 64, instructionSet: .baseline)
    return (engine, filters, OfflineRun(engine, microphones: [noise.samples(4800)]))
  }

  /// A period in which the transport rolls from `frame`, or stands still if that is nil.
  private func timing(_ frame: Int?, stopped: Int = 0, skipped: Int = 0) -> Timing {
    var timing = Timing()
    timing.transport = frame.map { Transport(isRolling: true, frame: $0) } ?? Transport(frame: stopped)
    timing.skippedFrames = skipped
    return timing
  }

  /// The frame numbers in the microphone's channel of a ring.
  private func frames(_ ring: TakeRing) -> [Int] {
    var (position, frames) = (0, [Int]())
    ring.drain(
      position: &position, isLast: true,
      frames: { samples in
        for n in stride(from: 1, to: samples.count, by: 2) { frames.append(Int(samples[n] * 16_384) - 1) }
      }, gap: { _ in })
    return frames
  }

  @Test(
    "the take has exactly the frames of the periods in which the transport rolls, and knows where it began")
  func exactFrames() throws {
    var run = run()
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    let ticket = try run.engine.beginTake(into: ring, followingTransport: true)
    for _ in 0..<5 { run.process(64, timing: timing(nil)) }
    #expect(run.engine.drainReports() == [.takeArmed(ticket)])
    #expect(ring.start == nil && !run.engine.statistics.recording)
    for n in 0..<7 { run.process(64, timing: timing(4800 + 64 * n)) }
    #expect(run.engine.drainReports() == [.takeBegan(ticket, frame: 320)])
    for _ in 0..<3 { run.process(64, timing: timing(nil)) }
    #expect(run.engine.drainReports() == [.transportStopped(take: ticket, frame: 768)])
    #expect(ring.isFinished && ring.start?.transportFrame == 4800 && ring.start?.preRoll == 0)
    #expect(frames(ring) == Array(320..<768))
    // The same engine records again.
    _ = try run.engine.beginTake(into: TakeRing(outputs: 1, capacityFrames: 100))
    run.process(64, timing: timing(nil))
    #expect(run.engine.statistics.recording)
  }

  @Test("pre-roll reaches back before the transport's first frame")
  func preRoll() throws {
    var run = run(preRollFrames: 128)
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    _ = try run.engine.beginTake(into: ring, followingTransport: true)
    for _ in 0..<5 { run.process(64, timing: timing(nil)) }
    run.process(64, timing: timing(0))
    #expect(ring.start?.preRoll == 128 && ring.start?.transportFrame == 0)
    #expect(frames(ring) == Array(320..<384))
  }

  @Test("a substitution that fades when the transport starts does not delay the first frame")
  func substitution() throws {
    let (engine, filters, start) = fadingRun()
    var run = start
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    let ticket = try engine.beginTake(into: ring, followingTransport: true)
    run.process(64, timing: timing(nil))
    let substitute = try engine.substitute(filters, gain: 0.5)
    run.process(64, timing: timing(nil))
    run.process(64, timing: timing(1000))
    let reports = engine.drainReports()
    #expect(reports.contains(.substituted(substitute, frame: 64, takeFrame: nil)), "\(reports)")
    #expect(reports.contains(.takeBegan(ticket, frame: 128)), "\(reports)")
  }

  @Test("a change that fades delays arming, and a change after it is refused")
  func changes() throws {
    let (engine, filters, start) = fadingRun()
    var run = start
    let change = try engine.change(to: filters, gain: 0.5)
    let ticket = try engine.beginTake(
      into: TakeRing(outputs: 1, capacityFrames: 10_000), followingTransport: true)
    for _ in 0..<14 { run.process(64, timing: timing(0)) }
    #expect(engine.drainReports() == [], "a rolling transport does not begin a take in the middle of a fade")
    for _ in 0..<2 { run.process(64, timing: timing(nil)) }
    #expect(engine.drainReports() == [.applied(change, frame: 960), .takeArmed(ticket)])
    let late = try engine.change(to: filters, gain: 0.25)
    run.process(64, timing: timing(nil))
    #expect(engine.drainReports() == [.refused(late, take: ticket)])
  }

  @Test(
    "periods that Pinna missed while the transport rolled are gaps of exactly their length, at both ends, too"
  )
  func missedPeriods() throws {
    var run = run()
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    _ = try run.engine.beginTake(into: ring, followingTransport: true)
    for _ in 0..<5 { run.process(64, timing: timing(nil, stopped: 1000)) }
    // Of 192 missed frames the transport rolled 128.
    var first = timing(1128, skipped: 192)
    first.microseconds = 1_000_000
    run.process(64, timing: first)
    run.process(64, timing: timing(1192))
    run.process(64, timing: timing(1384, skipped: 128))
    // Of 256 missed frames it rolled 64.
    run.process(64, timing: timing(nil, stopped: 1512, skipped: 256))
    var (position, gaps, written) = (0, [TakeGap](), 0)
    ring.drain(
      position: &position, isLast: true, frames: { written += $0.count / 2 }, gap: { gaps.append($0) })
    #expect(ring.start?.transportFrame == 1000 && position == 512 && written == 192)
    #expect(gaps.map(\.start) == [0, 256, 448] && gaps.map(\.frames) == [128, 128, 64], "\(gaps)")
    #expect(gaps.allSatisfy { $0.cause == .stall })
    // 128 frames earlier.
    #expect(ring.start?.microseconds == 1_000_000 - 2666)
  }

  @Test("periods missed before the take was armed are no part of it")
  func missedBefore() throws {
    var run = run()
    run.process(64, timing: timing(1000))
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    _ = try run.engine.beginTake(into: ring, followingTransport: true)
    run.process(64, timing: timing(1192, skipped: 128))
    var (position, gaps) = (0, [TakeGap]())
    ring.drain(position: &position, isLast: true, frames: { _ in }, gap: { gaps.append($0) })
    #expect(ring.start?.transportFrame == 1192 && gaps.isEmpty && position == 64, "\(gaps)")
  }

  @Test("where the transport was relocated in missed periods, its position is not believed")
  func relocated() throws {
    var run = run()
    let ring = TakeRing(outputs: 1, microphones: 1, capacityFrames: 10_000)
    _ = try run.engine.beginTake(into: ring, followingTransport: true)
    run.process(64, timing: timing(nil, stopped: 1000))
    run.process(64, timing: timing(90_000, skipped: 192))
    run.process(64, timing: timing(nil, stopped: 5, skipped: 256))
    var (position, gaps) = (0, [TakeGap]())
    ring.drain(position: &position, isLast: true, frames: { _ in }, gap: { gaps.append($0) })
    #expect(ring.start?.transportFrame == 90_000 && gaps.map(\.frames) == [256], "\(gaps)")
    #expect(ring.hasEndedWithTransport)
  }
}
