import Foundation
import Messages
import Processor
import Recording
import Settings
import Testing

/// R34: a server that changes its sample rate while it runs, as PipeWire and a netjack2 slave do.
@Suite("A sample rate that changes") struct SampleRateTests {
  /// The client notices the new rate, and its callback has run a period of it.
  func change(_ rig: Rig, to rate: Int, periods: Int = 1) {
    rig.world.client!.sampleRate = rate
    rig.run(periods: periods)
  }

  /// Completes everything that the new rate waits for.
  func join(_ rig: Rig) {
    while !rig.world.designs.isEmpty { rig.world.endDesign() }
    rig.processor.poll()
    rig.endPreparing()
    rig.run(periods: 3)
  }

  @Test("R34: filters for the new rate take over, with the previous setting, in the same client")
  func takesOver() throws {
    let rig = Rig.live()
    rig.set(["pattern": "cardioid"], gain: 5)
    rig.run(periods: 3)
    let client = rig.world.client!
    change(rig, to: 44100)
    #expect(rig.processor.state.kind == .joining && rig.world.designs.map(\.rate) == [44100])
    #expect(rig.processor.serverState == .joining)
    join(rig)
    #expect(rig.processor.state.kind == .live && rig.world.client === client && client.closing == nil)
    #expect(client.audibleSetting == rig.processor.inForce)
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    #expect(client.engine?.sampleRate == 44100 && !client.isRetired && client.unusedEngines == 0)
    #expect(rig.warnings.last?.contains("the sample rate is 44100 Hz now") ?? false, "\(rig.warnings)")
  }

  @Test("R34: a take ends where the rate changes, is whole, and its sidecar and the stop request say why")
  func take() throws {
    let rig = Rig.live()
    let take = rig.record()
    change(rig, to: 44100)
    #expect(
      take.isAbandoned && take.events.contains { $0.contains("from 48000 to 44100 Hz") }, "\(take.events)")
    rig.finish(take)
    let stop = rig.stopTake()
    #expect(stop.status == .noServer && stop.text.contains("the sample rate changed"), "\(stop.text)")
    #expect(rig.processor.takes.incomplete == nil)
    join(rig)
    #expect(rig.startTake().status == nil && rig.world.takes.count == 2)
  }

  @Test("R34: a rate that changes and returns between two polls ends a take, too: it would have a hole")
  func flicker() throws {
    let rig = Rig.live()
    let take = rig.record()
    let client = rig.world.client!
    client.sampleRate = 44100
    client.run(periods: 1)
    client.sampleRate = 48000
    rig.run(periods: 1)
    #expect(take.isAbandoned && take.events.contains { $0.contains("left 48000 Hz") }, "\(take.events)")
    // The filters are there: nothing is designed.
    #expect(rig.processor.state.kind == .preparing && rig.world.designs.isEmpty)
    client.endPreparing()
    rig.run(periods: 3)
    #expect(rig.processor.state.kind == .live && !client.isRetired)
  }

  @Test("R34: a rate that changes again while filters are designed, or ports registered, is followed")
  func twice() throws {
    let rig = Rig.live()
    change(rig, to: 44100)
    change(rig, to: 48000)
    // Those filters are still there.
    #expect(rig.processor.state.kind == .preparing)
    change(rig, to: 44100)
    rig.world.client!.endPreparing()
    rig.processor.poll()
    rig.run(periods: 1)
    #expect(rig.processor.state.kind == .joining && rig.world.designs.last?.rate == 44100)
    join(rig)
    #expect(rig.processor.state.kind == .live && rig.world.client?.engine?.sampleRate == 44100)
  }

  @Test("R34: a rate without filters makes the server unusable, until it has another")
  func unusable() throws {
    let rig = Rig.live()
    change(rig, to: 44100)
    rig.world.endDesign(Failure(.unsupported, "44100 Hz is not supported"))
    rig.processor.poll()
    #expect(rig.processor.serverState == .unusable)
    let refused = rig.set([:], gain: 1)
    #expect(
      refused.status == .noServer && refused.text.contains("44100 Hz is not supported"), "\(refused.text)")
    change(rig, to: 48000)
    rig.world.client!.endPreparing()
    rig.run(periods: 3)
    #expect(rig.processor.serverState == .running && rig.processor.state.kind == .live)
  }

  @Test("R34: whoever waits for a change, a device or a take is answered when the rate changes")
  func requests() throws {
    let rig = Rig.live()
    let gain = rig.set([:], gain: 3)
    let device = rig.set(["input": "b"], gain: 4)
    change(rig, to: 44100, periods: 0)
    for request in [gain, device] {
      #expect(
        request.status == .failed && request.text.contains("the sample rate changed"), "\(request.text)")
    }
    join(rig)
    let take = rig.startTake()
    change(rig, to: 48000, periods: 0)
    #expect(take.status == .failed && rig.world.takes[0].isDiscarded)
  }
}
