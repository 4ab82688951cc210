import Glibc
import Realtime
import TestSupport
import Testing

/// Other filters for the same setting: a microphone has failed.
@Suite("Substitutions of filters") struct SubstitutionTests {
  /// An engine in which `scaling(1)` is in force, with one microphone that sends ones.
  static func run(preRoll: PreRoll? = nil) -> (engine: Engine, run: OfflineRun) {
    let engine = Engine(playing: scaling(1), period: 64, preRoll: preRoll)
    return (engine, OfflineRun(engine, microphones: [[Float](repeating: 1, count: 64_000)]))
  }

  static func recorded(_ ring: TakeRing) -> [Float] {
    var samples: [Float] = []
    var position = 0
    ring.drain(position: &position, frames: { samples += Array($0) }, gap: { _ in Issue.record("gap") })
    return samples
  }

  @Test(
    "R39: filters are substituted during a take, from the reported frame of the take on; changes stay refused"
  )
  func duringATake() throws {
    var (engine, run) = Self.run()
    run.process(64)
    let ring = TakeRing(outputs: 1, capacityFrames: 48000)
    let take = try engine.beginTake(into: ring)
    while run.position < 3200 { run.process(64) }
    let change = try engine.change(to: scaling(3), gain: 1)
    let substitution = try engine.substitute(scaling(-0.5), gain: 1)
    while run.position < 6400 { run.process(64) }
    let end = try engine.endTake()
    run.process(64)
    #expect(
      engine.drainReports() == [
        .takeBegan(take, frame: 64), .refused(change, take: take),
        .substituted(substitution, frame: 3200, takeFrame: 3136),
        .applied(substitution, frame: 4160), .takeEnded(end, take: take, frame: 6400),
      ])
    let samples = Self.recorded(ring)
    #expect(samples[..<3136].allSatisfy { isNear($0, 1) })
    let fade = (0..<960).map { (n: Int) -> Double in 0.5 - 0.5 * cos(.pi * (Double(n) + 0.5) / 960) }
    #expect(
      zip(samples[3136...], fade).allSatisfy { (heard: Float, fade: Double) -> Bool in
        abs(Double(heard) - (1 - 1.5 * fade)) <= 1e-6
      })
    #expect(samples[(3136 + 960)...].allSatisfy { isNear($0, -0.5) })
  }

  @Test("of two waiting substitutions only the newer one is applied")
  func superseded() throws {
    var (engine, run) = Self.run()
    let tickets = try (2...4).map { try engine.substitute(scaling(Float($0)), gain: 1) }
    while run.position < 6400 { run.process(64) }
    #expect(
      Set(engine.drainReports()) == [
        .substituted(tickets[0], frame: 0, takeFrame: nil), .applied(tickets[0], frame: 960),
        .superseded(tickets[1]), .substituted(tickets[2], frame: 960, takeFrame: nil),
        .applied(tickets[2], frame: 1920),
      ])
    #expect(isNear(run.left.last!, 4))
  }

  @Test("a take begins after a substitution that was requested before it")
  func beforeATake() throws {
    var (engine, run) = Self.run()
    let substitution = try engine.substitute(scaling(2), gain: 1)
    let ring = TakeRing(outputs: 1, capacityFrames: 48000)
    let take = try engine.beginTake(into: ring)
    while run.position < 3200 { run.process(64) }
    #expect(
      engine.drainReports() == [
        .substituted(substitution, frame: 0, takeFrame: nil), .applied(substitution, frame: 960),
        .takeBegan(take, frame: 960),
      ])
    #expect(Self.recorded(ring).allSatisfy { isNear($0, 2) })
  }

  @Test("a substitution leaves the pre-roll, which a change empties", arguments: [true, false])
  func preRoll(isSubstitution: Bool) throws {
    var (engine, run) = Self.run(preRoll: PreRoll(microphones: 1, capacityFrames: 9600))
    while run.position < 3200 { run.process(64) }
    if isSubstitution {
      _ = try engine.substitute(scaling(2), gain: 1)
    } else {
      _ = try engine.change(to: scaling(2), gain: 1)
    }
    while run.position < 6400 { run.process(64) }
    let ring = TakeRing(outputs: 1, capacityFrames: 48000)
    _ = try engine.beginTake(into: ring)
    run.process(64)
    let kept = try #require(ring.start).preRoll
    #expect(isSubstitution ? kept == 6400 : kept <= 3200 - 960 + 64, "\(kept)")
  }
}
