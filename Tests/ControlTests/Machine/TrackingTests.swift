import Acoustics
import Messages
import Processor
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
    #expect(rig.status.look == nil && rig.status.follow == [.look] && rig.status.tracker?.yaw == -98)
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
    #expect(take.turns.last?.look == Look(azimuth: 40) && take.turns.last?.feed == nil)
  }

  @Test("what follows no more is as it was set")
  func end() {
    let rig = following()
    turn(rig, 20)
    design(rig)
    let off = rig.set(["follow": "off"], gain: 2)
    rig.run(periods: 10)
    #expect(off.status == .done && rig.status.follow == nil && rig.status.look == nil)
    let before = rig.world.client!.turns
    turn(rig, 60)
    #expect(rig.world.client!.turns == before)
  }

  @Test("the centre is the pose in which the tracker points ahead; without a pose there is none")
  func centre() throws {
    let rig = following()
    #expect(throws: Failure.self) { try rig.processor.centre() }
    turn(rig, 50)
    try rig.processor.centre()
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
