import Messages
import Processor
import Realtime
import Recording
import Settings
import TestSupport
import Testing

/// R39: microphones that fail and return: `two` of three.
@Suite("Missing microphones") struct FallbackTests {
  /// A processor whose microphones are connected and sound.
  private func rig() -> Rig {
    let rig = Rig.live()
    rig.world.client?.readings.microphones = ["one", "two", "three"]
    rig.world.client?.connectedPorts = ["one", "two", "three"]
    set(0.1, 0.1, rig)
    rig.advance(.milliseconds(200))
    return rig
  }

  /// RMS levels of the microphones; the third has that of the first.
  private func set(_ one: Float, _ two: Float, _ rig: Rig) {
    rig.world.client?.readings.levels = [one, two, one, 0, 0].map { Level(rms: $0, peak: $0 * 2) }
  }

  /// Polls as often as the control thread does, and completes what the processor waits for.
  private func pass(_ duration: Duration, _ rig: Rig) {
    let end = rig.world.now + duration
    while rig.world.now < end {
      rig.world.now += .milliseconds(45)
      rig.processor.poll()
      rig.world.endFallback()
      rig.run(periods: 1)
    }
  }

  private func missing(_ rig: Rig) -> Set<String>? { rig.world.client?.audiblyMissing }

  @Test(
    "a fault becomes a fallback after its time, and ends 2 s after the microphone works again",
    arguments: [
      (MicrophoneFault.unconnected, 1000), (.silent, 700), (.invalid, 0), (.faint, 5000),
    ])
  func fault(fault: MicrophoneFault, milliseconds: Int) throws {
    let rig = rig()
    let client = try #require(rig.world.client)
    switch fault {
    case .unconnected: client.connectedPorts = ["one", "three"]
    case .silent: set(0.1, 0, rig)
    case .invalid: client.readings.mutedMicrophones = ["two"]
    case .faint: set(0.1, 0.0099, rig)
    }
    if milliseconds > 0 {
      pass(.milliseconds(milliseconds - 100), rig)
      #expect(missing(rig) == [] && rig.status.fallback == nil)
    }
    pass(.milliseconds(500), rig)
    #expect(missing(rig) == ["two"])
    // The search for talkers hears of it with the next readings.
    pass(.milliseconds(200), rig)
    #expect(client.lacksMicrophone)
    let report = try #require(rig.status.fallback)
    #expect(report.missing.map(\.name) == ["two"] && report.missing[0].fault == fault)
    #expect(report.without == ["two"] && report.obstacle == nil)
    #expect(
      rig.warnings.contains { $0.hasPrefix("two is missing: ") && $0.hasSuffix("without it are in force") })
    client.connectedPorts = ["one", "two", "three"]
    client.readings.mutedMicrophones = []
    // A faint one must come back to -14 dB.
    set(0.1, fault == .faint ? 0.019 : 0.1, rig)
    pass(.seconds(3), rig)
    #expect((missing(rig) == []) == (fault != .faint))
    set(0.1, 0.1, rig)
    pass(.milliseconds(fault == .faint ? 1900 : 0), rig)
    #expect((missing(rig) == []) == (fault != .faint))
    pass(.milliseconds(300), rig)
    #expect(missing(rig) == [] && rig.status.fallback == nil)
    pass(.milliseconds(200), rig)
    #expect(!client.lacksMicrophone)
    #expect(rig.warnings.contains("filters for all microphones are in force again"))
  }

  @Test(
    "a calm microphone among windy ones is not called faint; it is without wind, and one faint before stays missing"
  )
  func calmInWind() {
    let rig = rig()
    rig.world.client?.readings.hasWind = true
    set(0.1, 0.005, rig)
    pass(.seconds(8), rig)
    #expect(missing(rig) == [])
    rig.world.client?.readings.hasWind = false
    pass(.milliseconds(5500), rig)
    #expect(missing(rig) == ["two"])
    rig.world.client?.readings.hasWind = true
    pass(.seconds(4), rig)
    #expect(missing(rig) == ["two"])
  }

  @Test("silence of all microphones, or no connection at all, is the fault of none")
  func nobodysFault() {
    let rig = rig()
    set(0, 0, rig)
    pass(.seconds(10), rig)
    rig.world.client?.connectedPorts = []
    pass(.seconds(10), rig)
    #expect(missing(rig) == [] && rig.world.fallbacks.isEmpty)
  }

  @Test("with all microphones missing the filters stay as they are")
  func allInvalid() throws {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["one", "two", "three"]
    pass(.seconds(2), rig)
    #expect(missing(rig) == [])
    #expect(try #require(rig.status.fallback).obstacle == "more than half of the microphones are missing")
  }

  @Test("S13: during a take the filters change, what is set does not, and the sidecar lists the frames")
  func duringATake() throws {
    let rig = rig()
    let before = rig.processor.inForce
    let take = rig.record()
    pass(.seconds(1), rig)
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["two"])
    #expect(rig.set([:], gain: 7).status == .refused && rig.processor.inForce == before)
    rig.world.client?.readings.mutedMicrophones = []
    pass(.seconds(3), rig)
    #expect(missing(rig) == [] && rig.processor.inForce == before)
    #expect(take.fallbacks.map(\.without) == [["two"], []])
    // A period is 64 frames, and lasts 45 ms here.
    let frames = take.fallbacks.map(\.frame)
    #expect(abs(frames[0] / 64 - 1000 / 45) < 4 && abs(frames[1] / 64 - 4000 / 45) < 6, "\(frames)")
    #expect(
      take.events.first == "two is missing: it sends invalid samples (NaN, infinity, or above +60 dBFS)")
    #expect(take.events.last == "two is back")
  }

  @Test("a take with pre-roll lists the fallback that its pre-roll began with, and those within")
  func preRoll() {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    rig.world.client?.readings.mutedMicrophones = []
    pass(.seconds(4), rig)
    rig.startTake()
    let take = rig.world.takes.last!
    // All of the first second before.
    take.preRollFrames = 64 * 100
    rig.open(take)
    rig.run(periods: 1)
    #expect(take.fallbacks.map(\.without) == [["two"], []])
    #expect(take.fallbacks[0].frame == 0 && take.fallbacks[1].frame > 0)
  }

  @Test("a change during a fallback uses its filters, and is answered")
  func change() {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    let change = rig.set(["pattern": "cardioid"], gain: 5)
    pass(.seconds(1), rig)
    #expect(change.status == .done && missing(rig) == ["two"])
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    rig.world.client?.readings.mutedMicrophones = []
    pass(.seconds(3), rig)
    #expect(missing(rig) == [] && rig.processor.inForce.main.selection.polarPattern == .cardioid)
  }

  @Test(
    "filters that cannot be had are reported, and asked for again only when other microphones are missing")
  func failure() throws {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    rig.run(periods: 1)
    rig.advance(.milliseconds(100))
    rig.world.endFallback(Failure(.failed, "the disk is full"))
    pass(.seconds(2), rig)
    #expect(missing(rig) == [] && rig.world.fallbacks.isEmpty)
    #expect(try #require(rig.status.fallback).obstacle == "the disk is full")
    #expect(
      rig.warnings.filter { $0.contains("there are no filters without two: the disk is full") }.count == 1)
    rig.world.client?.readings.mutedMicrophones = ["one"]
    pass(.seconds(4), rig)
    #expect(missing(rig) == ["one"])
  }

  @Test(
    "R39: filters without each microphone are got ready while nothing happens; takes and faults interrupt it")
  func preparation() {
    let rig = rig()
    var begun: [String] { rig.world.preparations.map(\.microphone) }
    func end(_ number: Int, _ result: Result<Void, Failure> = .success(())) {
      rig.world.preparations[number].job.finish(result)
    }
    pass(.seconds(9), rig)
    #expect(begun.isEmpty && rig.status.preparedFallbacks == nil)
    pass(.seconds(2), rig)
    #expect(begun == ["one"] && rig.status.preparedFallbacks == [])
    let take = rig.record()
    pass(.seconds(30), rig)
    // Its design was cancelled: what it still finds does not count.
    end(0)
    pass(.seconds(1), rig)
    #expect(begun == ["one"] && rig.status.preparedFallbacks == [])
    rig.stopTake()
    rig.run(periods: 1)
    rig.finish(take)
    pass(.seconds(9), rig)
    #expect(begun == ["one"])
    pass(.seconds(2), rig)
    end(1)
    pass(.seconds(1), rig)
    #expect(begun == ["one", "one", "two"] && rig.status.preparedFallbacks == ["one"])
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["two"])
    rig.world.client?.readings.mutedMicrophones = []
    pass(.seconds(15), rig)
    #expect(begun == ["one", "one", "two", "two"])
    end(3, .failure(Failure(.failed, "too few microphones are left")))
    pass(.seconds(60), rig)
    #expect(begun.count == 4 && rig.status.preparedFallbacks == ["one"])
  }

  @Test("a room that becomes quiet brings back no covered microphone, and takes none away")
  func quietRoom() {
    let rig = rig()
    set(0.1, 0.005, rig)
    pass(.seconds(6), rig)
    #expect(missing(rig) == ["two"])
    set(0.00005, 0.00004, rig)
    pass(.seconds(10), rig)
    #expect(missing(rig) == ["two"])
    set(0.1, 0.1, rig)
    pass(.seconds(3), rig)
    set(0.00005, 0.000001, rig)
    pass(.seconds(10), rig)
    #expect(missing(rig) == [])
  }

  @Test("of two microphones that work, neither is too soft")
  func pair() {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["three"]
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["three"])
    set(0.5, 0.001, rig)
    pass(.seconds(20), rig)
    #expect(missing(rig) == ["three"])
  }

  @Test(
    "a microphone that fails again and again is taken back more and more slowly, and its design is not restarted"
  )
  func flapping() {
    let rig = rig()
    var returns = 0
    for round in 0..<20 {
      rig.world.client?.readings.mutedMicrophones = ["two"]
      pass(.milliseconds(200), rig)
      rig.world.client?.readings.mutedMicrophones = []
      pass(.seconds(5), rig)
      if round > 3, missing(rig) == [] { returns += 1 }
    }
    #expect(returns <= 2, "\(returns)")
    pass(.seconds(61), rig)
    #expect(missing(rig) == [])
  }

  @Test("a design goes on while its microphone works for a moment")
  func designGoesOn() {
    let rig = rig()
    for _ in 0..<3 {
      rig.world.client?.readings.mutedMicrophones = ["two"]
      rig.advance(.milliseconds(500))
      rig.run(periods: 1)
      rig.world.client?.readings.mutedMicrophones = []
      for _ in 0..<8 {
        rig.advance(.milliseconds(500))
        rig.run(periods: 1)
      }
    }
    #expect(rig.world.fallbacks.count == 1)
  }

  @Test(
    "the design for a microphone that failed for a moment does not block preparations, whether it ends or not",
    arguments: [true, false])
  func momentaryFault(ends: Bool) {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    rig.run(periods: 1)
    rig.advance(.milliseconds(100))
    rig.world.client?.readings.mutedMicrophones = []
    for _ in 0..<60 {
      rig.world.now += .milliseconds(45)
      rig.run(periods: 1)
    }
    #expect(rig.status.fallback == nil && rig.world.fallbacks.count == 1)
    if ends { rig.world.endFallback() } else { rig.advance(.seconds(601)) }
    pass(.seconds(15), rig)
    #expect(missing(rig) == [] && rig.world.preparations.map(\.microphone) == ["one"])
  }

  @Test("filters that could not be had are asked for again when the microphone fails again")
  func retry() {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    rig.run(periods: 1)
    rig.advance(.milliseconds(100))
    rig.world.endFallback(Failure(.failed, "the disk is full"))
    pass(.seconds(1), rig)
    rig.world.client?.readings.mutedMicrophones = []
    pass(.seconds(4), rig)
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["two"])
  }

  @Test("filters without a microphone that has returned are given up at once when another fails")
  func another() {
    let rig = rig()
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["two"])
    rig.world.client?.readings.mutedMicrophones = ["one"]
    for _ in 0..<60 {
      rig.world.now += .milliseconds(45)
      rig.processor.poll()
      rig.run(periods: 1)
    }
    // The other design has not ended, and `two` works again.
    #expect(missing(rig) == [])
  }

  @Test("while the server stands still no microphone becomes missing")
  func stalled() {
    let rig = rig()
    set(0.1, 0, rig)
    pass(.milliseconds(400), rig)
    rig.advance(.seconds(20))
    pass(.milliseconds(400), rig)
    #expect(missing(rig) == [])
    pass(.seconds(1), rig)
    #expect(missing(rig) == ["two"])
  }

  @Test("another device is watched anew, and sessions hear that the microphone is no longer missing")
  func otherDevice() {
    let rig = rig()
    var events: [EngineEvent.Kind] = []
    rig.processor.onEvent = { events.append($0.kind) }
    rig.world.client?.readings.mutedMicrophones = ["two"]
    pass(.seconds(1), rig)
    rig.world.client?.readings.mutedMicrophones = []
    rig.set(["input": "b"], gain: 3)
    rig.finishChange()
    #expect(missing(rig) == [])
    #expect(
      events.filter { [.microphoneGone, .microphoneBack].contains($0) } == [.microphoneGone, .microphoneBack])
  }
}
