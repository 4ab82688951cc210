import Realtime
import TestSupport
import Testing

@Suite("The fake engine") struct FakeEngineTests {
  /// A report in which tickets are numbered in the order they were made, so that two engines can be compared.
  private static func plain(_ report: Report, _ tickets: [Ticket]) -> String? {
    func n(_ ticket: Ticket) -> Int { tickets.firstIndex(of: ticket) ?? -1 }
    return switch report {
    case .applied(let ticket, _): "applied \(n(ticket))"
    case .substituted(let ticket, let frame, let takeFrame):
      "substituting \(n(ticket)) from \(frame), \(takeFrame == nil ? "outside" : "during") a take"
    case .superseded(let ticket): "superseded \(n(ticket))"
    case .refused(let ticket, let take): "refused \(n(ticket)) for \(n(take))"
    case .takeArmed(let ticket): "armed \(n(ticket))"
    case .transportStopped(let take, let frame): "stopped \(n(take)) with the transport at \(frame)"
    case .takeBegan(let ticket, _): "began \(n(ticket))"
    case .takeEnded(let ticket, let take, _): "ended \(n(take)) by \(n(ticket))"
    case .noTake(let ticket): "no take for \(n(ticket))"
    case .playbackEnded(let ticket): "played \(n(ticket))"
    case .feedBegan(let ticket): "feed began \(n(ticket))"
    case .feedEnded(let ticket, let feed): "feed \(feed) ended \(n(ticket))"
    case .released, .convolverReplaced: nil
    }
  }

  @Test(
    "the fake engine makes the engine's reports, message by message and period by period",
    arguments: 0..<200 as Range<UInt64>)
  func sameReports(seed: UInt64) throws {
    var noise = SeededNoise(seed: seed)
    let engine = Engine(
      microphones: 1, taps: 16, sampleRate: 48000, fadeFrames: 128, instructionSet: .baseline)
    engine.prepare(period: 64)
    let fake = FakeEngine()
    let filters = FilterSet(coefficients: noise.filters(microphones: 1, taps: 16))
    let ring = TakeRing(outputs: 1, capacityFrames: 100_000)
    let playback = PlaybackRing(capacityFrames: 100_000)
    playback.write(left: [Float](repeating: 0, count: 90_000), right: [Float](repeating: 0, count: 90_000))
    var run = OfflineRun(engine, microphones: [[Float](repeating: 0, count: 1)])
    var timing = Timing()
    var (real, imitated): ([Ticket], [Ticket]) = ([], [])
    for _ in 0..<60 {
      let ticket = Ticket.next()
      switch noise.next() % 11 {
      case 10:
        fake.isRolling.toggle()
        timing.transport.isRolling = fake.isRolling
        continue
      case 9:
        real.append(try engine.beginTake(into: ring, followingTransport: true))
        try fake.push(.beginTake(ticket, followsTransport: true))
      case 8:
        real.append(try engine.substitute(filters, gain: 1))
        try fake.push(.substitute(ticket))
      case 0, 1:
        real.append(try engine.change(to: filters, gain: 1))
        try fake.push(.change(ticket))
      case 2:
        real.append(try engine.beginTake(into: ring))
        try fake.push(.beginTake(ticket, followsTransport: false))
      case 3:
        real.append(try engine.endTake())
        try fake.push(.endTake(ticket), fromReserve: true)
      case 4:
        real.append(try engine.beginPlayback(of: playback))
        try fake.push(.beginPlayback(ticket))
      case 5:
        try engine.endPlayback()
        try fake.push(.endPlayback, fromReserve: true)
        continue
      default:
        run.process(64, timing: timing)
        fake.run()
        let reports = engine.drainReports().compactMap { Self.plain($0, real) }
        #expect(reports == fake.drainReports().compactMap { Self.plain($0, imitated) })
        continue
      }
      imitated.append(ticket)
    }
  }
}
