import Foundation
import Messages
import Testing

/// A laptop whose lid is closed: the processor's clock runs on, nothing else does.
@Suite("A machine that is suspended") struct SuspendTests {
  @Test(
    "a take goes on after eight hours of sleep, and its sidecar has them; the graph does not count as stalled"
  )
  func take() throws {
    let rig = Rig.live()
    let take = rig.record()
    rig.run(periods: 3)
    rig.standStill(.seconds(28_800))
    for _ in 0..<30 {
      rig.world.now += .milliseconds(45)
      rig.run(periods: 2)
    }
    #expect(rig.processor.state.kind == .recording && rig.processor.serverState == .running)
    #expect(take.events == ["Pinna stood still for 28800.0 s, perhaps because the machine was suspended"])
    #expect(
      rig.warnings.count { $0.contains("stood still") } == 1
        && !rig.warnings.contains { $0.contains("periods") })
  }

  @Test("a change that was under way when the machine fell asleep is answered as applied after it")
  func change() throws {
    let rig = Rig.live()
    let change = rig.set([:], gain: 3)
    rig.standStill(.seconds(28_800))
    #expect(change.outcome == nil)
    rig.run(periods: 3)
    #expect(change.status == .done)
  }
}
