import Foundation
import JackClient
import Messages
import Settings
import Testing

/// Joining the first graph.
extension ProcessorTests {
  @Test("a processor that joins a graph applies its first setting")
  func joins() {
    let rig = Rig.live()
    #expect(rig.processor.state.kind == .live)
    #expect(rig.world.client?.audibleSetting == Rig.setting && rig.processor.inForce == Rig.setting)
    #expect(rig.processor.serverState == .running)
  }

  @Test(
    "the processor waits for a first server that refuses clients or is frozen, and reports it at the deadline"
  )
  func waitsForFirst() {
    let rig = Rig()
    rig.processor.poll()
    for failure in [Failure(.failed, "not let in"), Failure(.noServer, "none")] {
      rig.world.endOpening(.failure(failure))
      rig.processor.poll()
      #expect(rig.processor.startFailure(isWaiting: true) == nil)
      rig.advance(.milliseconds(300))
    }
    #expect(rig.processor.state.kind == .opening)
    rig.advance(.seconds(11))
    #expect(rig.processor.startFailure(isWaiting: true) == nil)
    rig.advance(.seconds(11))
    #expect(rig.processor.startFailure(isWaiting: false)?.description.contains("does not answer") == true)
    rig.endOpening(48000)
    #expect(rig.processor.state.kind == .joining)
  }

  @Test("the processor does not wait if another client has its name or the first server's rate is unusable")
  func waitsInVain() {
    let taken = Rig()
    taken.processor.poll()
    taken.world.endOpening(.failure(Failure(JackError.nameTaken("pinna"))))
    taken.processor.poll()
    #expect(taken.processor.startFailure(isWaiting: true)?.description.contains("--name") == true)
    let rate = Rig()
    rate.processor.poll()
    rate.world.endOpening(.success(4000))
    rate.processor.poll()
    rate.world.endDesign(Failure(.failed, "no filters at 4000 Hz"))
    rate.processor.poll()
    #expect(rate.processor.startFailure(isWaiting: true)?.description.contains("4000") == true)
  }

  @Test("the processor waits for a server that has no sample rate yet: a netjack2 slave without its master")
  func waitsForRate() throws {
    let rig = Rig()
    rig.processor.poll()
    rig.endOpening(0)
    rig.world.endDesign(Failure(.failed, "no filters at 0 Hz"))
    rig.processor.poll()
    #expect(rig.processor.startFailure(isWaiting: true) == nil)
    let client = try #require(rig.world.client)
    client.sampleRate = 48_000
    rig.processor.poll()
    rig.endDesign()
    client.endPreparing()
    rig.processor.poll()
    #expect(rig.processor.state.isInGraph)
  }
}
