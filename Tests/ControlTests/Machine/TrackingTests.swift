import Acoustics
import Messages
import Processor
import Realtime
import Settings
import Testing

@Suite("Feeds that follow a pose") struct TrackingTests {
  /// `main` looks ahead and follows.
  private func following() -> Rig {
    let rig = Rig.live()
    rig.set(["pattern": "cardioid", "follow": "look"], gain: 1)
    rig.run(periods: 10)
    return rig
  }

  private func turn(_ rig: Rig, _ yaw: Double) {
    rig.processor.track(TrackedPose(yaw: yaw))
    rig.run(periods: 10)
  }

  private func design(_ rig: Rig) {
    for _ in 0..<200 where !rig.world.nearby.isEmpty {
      rig.world.endNearby()
      rig.processor.poll()
      rig.run(periods: 3)
    }
  }

  private func look(_ rig: Rig) -> Double? { rig.world.client?.turned["main"]?.look?.azimuth }

  @Test("a look follows the tracker on a grid of 5 degrees; the nearest plays until the grid is there")
  func looks() {
    let rig = following()
    turn(rig, 33)
    #expect(rig.world.client?.turned["main"]?.look == nil)
    design(rig)
    #expect(look(rig) == 35)
    turn(rig, -98)
    #expect(look(rig) == -100)
    // The setting itself stays.
    #expect(
      rig.status.selection.effectiveLook == nil && rig.status.selection.followed == [.look]
        && rig.status.tracker?.yaw == -98)
  }

  @Test("a pose that changes nothing is not sent; of those that come while one fades, the newest counts")
  func newest() {
    let rig = following()
    turn(rig, 0)
    design(rig)
    let before = rig.world.client!.turns
    for _ in 0..<50 { rig.processor.track(TrackedPose(yaw: 1)) }
    #expect(rig.world.client!.turns == before)
    for yaw in 1...30 { rig.processor.track(TrackedPose(yaw: Double(yaw))) }
    rig.run(periods: 20)
    #expect(look(rig) == 30)
  }

  @Test(
    "during a take settings are refused, and the pose goes on; the sidecar has what was played, from the start on"
  )
  func take() {
    let rig = following()
    turn(rig, 20)
    design(rig)
    let take = rig.record()
    #expect(take.turns.first?.look == Look(azimuth: 20) && take.turns.first?.frame == 0)
    #expect(rig.set(["follow": "off"], gain: 2).status == .refused)
    turn(rig, 40)
    #expect(look(rig) == 40)
    #expect(take.turns.last?.look == Look(azimuth: 40) && take.turns.last?.feed == "main")
  }

  /// Who is heard, at azimuths from the front in degrees, with levels in dB.
  private func hear(_ rig: Rig, _ talkers: (identity: Int, azimuth: Double, level: Double)...) {
    let setting = rig.processor.inForce
    let source = try! setting.device.dataSource(named: setting.main.selection.dataSource)
    let frame = setting.device.frame(of: source, setting.main.selection.inputOrientation)
    rig.world.client?.readings.talkers = talkers.map {
      TrackedTalker(
        identity: $0.identity, direction: Look(azimuth: $0.azimuth)!.direction(in: frame).vector,
        level: $0.level, confidence: 0.5)
    }
    look(around: rig)
  }

  /// Long enough for the graph to be looked at.
  private func look(around rig: Rig) {
    rig.world.now += .milliseconds(600)
    rig.run(periods: 30)
    rig.processor.poll()
  }

  @Test(
    "a look that follows talkers is at the loudest, and stays at one who still speaks unless another is 6 dB louder"
  )
  func talkers() {
    let rig = Rig.live()
    #expect(rig.world.client?.findsTalkers == false)
    rig.set(["pattern": "cardioid", "follow": "talker"], gain: 1)
    look(around: rig)
    #expect(rig.world.client?.findsTalkers == true && rig.status.selection.followed == [.talker])
    hear(rig, (1, 33, -30))
    design(rig)
    hear(rig, (1, 33, -30))
    #expect(look(rig) == 35)
    hear(rig, (1, 33, -30), (2, -81, -25))
    #expect(look(rig) == 35)
    hear(rig, (1, 33, -30), (2, -81, -20))
    #expect(look(rig) == -80)
    // One between two looks moves by less than 3°, and the look does not.
    hear(rig, (2, -82.4, -20))
    hear(rig, (2, -83.4, -20))
    #expect(look(rig) == -80)
    // Nobody speaks: the look stays.
    hear(rig)
    #expect(look(rig) == -80)
    #expect(rig.status.talkers?.isEmpty == true)
    rig.set(["follow": "off"], gain: 2)
    look(around: rig)
    #expect(rig.world.client?.findsTalkers == false)
  }

  @Test("seats that are set name talkers from then on, each in place of who had the name or the place")
  func seats() throws {
    let rig = Rig.live()
    rig.set(["pattern": "cardioid", "follow": "talker"], gain: 1)
    look(around: rig)
    hear(rig, (1, 33, -30), (2, -81, -25))
    func names() -> [String?]? { rig.status.talkers?.map(\.name) }
    #expect(names() == ["talker 1", "talker 2"])
    rig.set(["seat": "anna=30;ben=-80,5"], gain: 2)
    rig.run(periods: 30)
    #expect(names() == ["anna", "ben"] && rig.status.seats == ["anna=30", "ben=-80,5"])
    // Somebody takes a place, and somebody another.
    rig.set(["seat": "cleo=33;ben=100"], gain: 3)
    rig.run(periods: 30)
    #expect(names() == ["cleo", "talker 2"])
    #expect(try rig.processor.inForce.value(of: .seat).word == "cleo=33;ben=100")
    for word in ["anna", "anna=x", "2=40", "anna=1;anna=90", ""] {
      #expect(throws: (any Error).self, "\(word)") { try Change(.seat, word) }
    }
    _ = rig.record()
    #expect(rig.set(["seat": "off"], gain: 4).status == .refused)
    rig.stopTake()
    rig.run(periods: 30)
    rig.set(["seat": "off"], gain: 5)
    rig.run(periods: 30)
    #expect(names() == ["talker 1", "talker 2"] && rig.status.seats == nil)
  }

  @Test("the sidecar of a take lists who begins and who ends, to its last frame, in its own frames")
  func listed() throws {
    let rig = Rig.live()
    let take = rig.record()
    let client = try #require(rig.world.client)
    let start = try #require(client.talkersFrom)
    hear(rig, (1, 30, -30))
    let talker = try #require(client.readings.talkers?.first)
    var silent = talker
    silent.silence = 0.1
    client.changes = [TalkerChange(frame: start + 480, talker: talker)]
    look(around: rig)
    client.changes = [TalkerChange(frame: start + 4800, talker: silent)]
    rig.stopTake()
    rig.run(periods: 2)
    #expect(take.talkers.map(\.frame) == [480, 4800] && take.talkers.map(\.isActive) == [true, false])
    #expect(take.talkers.allSatisfy { abs($0.look!.azimuth - 30) < 1e-6 && $0.identity == 1 })
    #expect(client.talkersFrom == nil)
  }

  @Test("talkers are told with angles from the data source; while nobody looks for them, why, and what to do")
  func answer() throws {
    let rig = Rig.live()
    let failure = #expect(throws: Failure.self) { try rig.processor.talkersAnswer }
    #expect(failure?.description.contains("pinna run --talkers") == true)
    rig.world.client?.readings.levels = [Level(rms: 0.1, peak: 0.2)]
    #expect(rig.processor.levelsMessages.map(\.path) == ["/pinna/levels"] && rig.status.talkers == nil)
    hear(rig, (4, -120, -31.26))
    let talkers = try rig.processor.talkersAnswer.talkers
    #expect(talkers.count == 1 && talkers[0].azimuth == -120 && talkers[0].levelDB == -31.3)
    #expect(
      rig.processor.levelsMessages.last
        == OSCMessage(
          "/pinna/talkers",
          [.integer(4), .float(-120), .float(Float(talkers[0].elevation ?? 0)), .float(-31.3), .float(0.5)]))
    // Directions are found with all microphones.
    rig.world.client?.readings.mutedMicrophones = ["left"]
    #expect(rig.status.talkers == nil && rig.status.talkersText == "a microphone is missing")
    rig.world.client?.readings.mutedMicrophones = []
    rig.world.client?.readings.talkers = nil
    rig.world.client?.readings.talkersText = "preparing"
    let second = #expect(throws: Failure.self) { try rig.processor.talkersAnswer }
    #expect(second?.description.contains("preparing") == true)
  }

  @Test("what follows no more is as it was set")
  func end() {
    let rig = following()
    turn(rig, 20)
    design(rig)
    let off = rig.set(["follow": "off"], gain: 2)
    rig.run(periods: 10)
    #expect(
      off.status == .done && rig.status.selection.followed == nil && rig.status.selection.effectiveLook == nil
    )
    let before = rig.world.client!.turns
    turn(rig, 60)
    #expect(rig.world.client!.turns == before)
  }

  @Test("the centre is the pose in which the tracker points ahead; without a pose there is none")
  func centre() throws {
    let rig = following()
    #expect(throws: Failure.self) { try rig.processor.calibrateTracker(.centre) }
    turn(rig, 50)
    try rig.processor.calibrateTracker(.centre)
    turn(rig, 70)
    design(rig)
    #expect(abs(rig.status.tracker!.yaw - 20) < 1e-9 && look(rig) == 20)
  }

  @Test("a feed follows by itself, and a microphone that fails does not stop it")
  func feeds() {
    let rig = following()
    let added = rig.addFeed(1, gain: 2)
    rig.run(periods: 3)
    rig.world.client?.endFeedJob()
    rig.run(periods: 3)
    #expect(added.status == .done)
    turn(rig, 30)
    design(rig)
    #expect(rig.world.client?.turned["feed1"]?.look == Look(azimuth: 30))
    rig.setFeed(1, follow: "off", gain: 3)
    rig.run(periods: 10)
    turn(rig, 60)
    #expect(look(rig) == 60 && rig.world.client?.turned["feed1"]?.look == Look(azimuth: 30))
  }
}
