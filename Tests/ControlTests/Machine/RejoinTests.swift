import Foundation
import Messages
import Processor
import Recording
import Settings
import Testing

/// R36: a graph that runs no periods for Pinna's client, while it may for others.
@Suite("A graph that stalls for Pinna's client alone") struct RejoinTests {
  /// The graph stalls, and a question is asked.
  func stalledRig() throws -> Rig {
    let rig = Rig.live()
    rig.stall(.milliseconds(4500))
    #expect(rig.processor.serverState == .stalled && rig.world.probes.count == 1)
    return rig
  }

  /// A new client has periods, or has none.
  func answer(_ rig: Rig, _ hasPeriods: Bool) {
    rig.world.probes.last!.finish(.success(hasPeriods))
    rig.processor.poll()
  }

  /// The old client is closed, and another joins.
  func join(_ rig: Rig) {
    rig.world.client!.endClosing()
    rig.processor.poll()
    rig.world.now += .milliseconds(60)
    rig.processor.poll()
    rig.endOpening(48000)
    rig.world.client!.endPreparing()
    rig.processor.poll()
    rig.run(periods: 3)
  }

  @Test("where a new client has periods, Pinna joins again, with the previous setting, and says so")
  func rejoins() throws {
    let rig = Rig.live()
    rig.set(["pattern": "cardioid"], gain: 5)
    rig.run(periods: 3)
    rig.stall(.milliseconds(4500))
    let client = rig.world.client!
    answer(rig, true)
    #expect(rig.processor.state.kind == .leaving && client.closing != nil)
    #expect(rig.processor.serverState == .joining)
    let refused = rig.set([:], gain: 6)
    #expect(
      refused.status == .noServer && refused.text.contains("joining the JACK server's graph again"),
      "\(refused.text)")
    join(rig)
    #expect(rig.processor.state.kind == .live && rig.processor.serverState == .running)
    #expect(rig.world.client !== client && client.isClosed)
    #expect(rig.world.client!.audibleSetting == rig.processor.inForce)
    #expect(rig.processor.inForce.main.selection.polarPattern == .cardioid)
    #expect(rig.warnings.last?.contains("joined the graph again") ?? false, "\(rig.warnings)")
  }

  @Test("a stall is reported with the ports that play into Pinna, whose programs may cause it")
  func programs() throws {
    let rig = Rig.live()
    rig.world.client?.connections = [
      "one": ["system:capture_1", "looper:out"], "two": ["drums:a", "looper:b"], "out_left": ["mixer:in"],
    ]
    rig.run(periods: 3)
    rig.stall(.milliseconds(2000))
    #expect(
      rig.warnings.last
        == "no periods reach Pinna, so nothing is heard or recorded: the JACK server stands still, or what its "
        + "microphones are connected to does (drums:a, looper:b, looper:out); disconnect that",
      "\(rig.warnings)")
    rig.run(periods: 3)
    rig.advance(.milliseconds(50))
    #expect(rig.warnings.last?.hasPrefix("periods reach Pinna again, after ") == true, "\(rig.warnings)")
  }

  @Test("a take ends there with what was recorded; its sidecar and the stop request say why")
  func take() throws {
    let rig = Rig.live()
    let take = rig.record()
    rig.stall(.milliseconds(4500))
    #expect(
      !take.isAbandoned && take.events.last == "no periods reached Pinna from here on", "\(take.events)")
    answer(rig, true)
    #expect(take.isAbandoned && take.events.last?.contains("although it does for new clients") ?? false)
    rig.finish(take)
    let stop = rig.stopTake()
    #expect(stop.status == .noServer && stop.text.contains("for new clients"), "\(stop.text)")
    #expect(rig.processor.takes.incomplete == nil)
    join(rig)
    #expect(rig.startTake().status == nil && rig.world.takes.count == 2)
  }

  @Test("whoever waits for a change of device is answered when Pinna joins again")
  func requests() throws {
    let rig = try stalledRig()
    let device = rig.set(["input": "b"], gain: 4)
    #expect(device.status == nil)
    answer(rig, true)
    #expect(device.status == .noServer && device.text.contains("try again"), "\(device.text)")
  }

  @Test("where a new client has none either, Pinna waits, and a take goes on; questions become rarer")
  func waits() throws {
    let rig = Rig.live()
    let take = rig.record()
    var asked: [Duration] = []
    let start = rig.world.now
    while rig.world.now - start < .seconds(200) {
      rig.stall(.milliseconds(90))
      if let probe = rig.world.probes.last, probe.result == nil {
        asked.append(rig.world.now - start)
        answer(rig, false)
      }
    }
    let seconds = asked.map { Int(($0 / .seconds(1)).rounded()) }
    #expect(seconds == [4, 10, 22, 46, 94, 154], "\(seconds)")
    rig.run(periods: 1)
    rig.stall(.milliseconds(45))
    #expect(rig.processor.state.kind == .recording && rig.processor.serverState == .running)
    #expect(!take.isAbandoned && rig.world.client!.closing == nil)
    #expect(!rig.warnings.contains { $0.contains("joins the graph again") })
  }

  @Test("a question that nobody answers is given up, and asked again")
  func noAnswer() throws {
    let rig = try stalledRig()
    rig.stall(StallProbe.limit + .milliseconds(90))
    #expect(rig.world.probes.count == 1)
    rig.stall(StallProbe.firstInterval * 2 + .milliseconds(90))
    #expect(rig.world.probes.count == 2 && rig.processor.state.kind == .live)
    // The first answer comes too late.
    rig.world.probes[0].finish(.success(true))
    rig.processor.poll()
    #expect(rig.processor.state.kind == .live)
  }

  @Test("periods that run again before the answer comes count, and Pinna stays")
  func resumes() throws {
    let rig = try stalledRig()
    rig.world.client!.run(periods: 1)
    answer(rig, true)
    #expect(rig.processor.state.kind == .live && rig.processor.serverState == .running)
  }

  @Test("joining again that does not help is tried again later and later")
  func inVain() throws {
    let rig = try stalledRig()
    answer(rig, true)
    join(rig)
    rig.stall(.milliseconds(4500))
    #expect(rig.processor.serverState == .stalled && rig.world.probes.count == 1)
    rig.stall(.seconds(3))
    #expect(rig.world.probes.count == 2)
    answer(rig, true)
    join(rig)
    // Periods for more than a minute: the next stall is a new one.
    for _ in 0..<1500 {
      rig.world.now += .milliseconds(45)
      rig.run(periods: 1)
    }
    // At rest, the graph is looked at every half second.
    rig.stall(.milliseconds(4800))
    #expect(rig.world.probes.count == 3)
  }

  @Test("a server that ends before Pinna has joined again is gone, and waited for")
  func serverGoes() throws {
    let rig = try stalledRig()
    answer(rig, true)
    rig.world.client!.endClosing()
    rig.processor.poll()
    rig.world.now += .milliseconds(60)
    rig.processor.poll()
    rig.world.endOpening(.failure(Failure(.noServer, "no JACK server is running")))
    rig.processor.poll()
    #expect(rig.processor.serverState == .gone)
    let refused = rig.set([:], gain: 6)
    #expect(
      refused.status == .noServer && refused.text.contains("ended while Pinna was joining"), "\(refused.text)"
    )
    rig.join()
    #expect(rig.processor.state.kind == .live)
    #expect(rig.warnings.last?.contains("the JACK server is back") ?? false, "\(rig.warnings)")
  }

  @Test("a client that another program removes is closed, a take ends, and another client joins at once")
  func removed() throws {
    let rig = Rig.live()
    let take = rig.record()
    let client = rig.world.client!
    client.loss = .removed
    rig.processor.poll()
    #expect(rig.processor.state.kind == .leaving && client.closing != nil)
    #expect(rig.processor.serverState == .joining)
    let cause = "another program has removed Pinna from the graph"
    #expect(take.isAbandoned && take.events.last?.contains(cause) ?? false, "\(take.events)")
    #expect(rig.warnings.last == "\(cause); Pinna joins the graph again", "\(rig.warnings)")
    rig.finish(take)
    join(rig)
    #expect(rig.processor.state.kind == .live && rig.world.client !== client)
    #expect(rig.world.client!.audibleSetting == rig.processor.inForce)
  }

  @Test("with --no-reconnect, joining again is no loss; a server that ends meanwhile is")
  func withoutReconnection() {
    for isGone in [false, true] {
      let rig = Rig.live(reconnects: false)
      rig.processor.rejoinGraph(because: "Pinna has another name from now on")
      #expect(rig.processor.state.kind == .leaving && rig.processor.permanentLossReason == nil)
      rig.world.client!.endClosing()
      rig.processor.poll()
      rig.world.now += .milliseconds(60)
      rig.processor.poll()
      #expect(rig.processor.permanentLossReason == nil)
      rig.world.endOpening(
        isGone ? .failure(Failure(.noServer, "no JACK server is running")) : .success(48000))
      rig.processor.poll()
      rig.world.client!.endPreparing()
      rig.run(periods: isGone ? 0 : 3)
      #expect((rig.processor.permanentLossReason != nil) == isGone && rig.processor.state.isInGraph != isGone)
    }
  }

  @Test("nobody is asked where all clients run together, and with --no-reconnect")
  func neverAsked() throws {
    let together = Rig.live()
    together.world.hasSeparateClients = false
    let final = Rig.live(reconnects: false)
    for rig in [together, final] {
      rig.stall(.seconds(20))
      #expect(rig.processor.serverState == .stalled && rig.processor.state.kind == .live)
      #expect(rig.world.probes.isEmpty && rig.world.client!.closing == nil)
    }
  }

  @Test("a processor that stops asks nothing more")
  func stops() throws {
    let rig = try stalledRig()
    rig.stop()
    answer(rig, true)
    #expect(rig.processor.isStopping && rig.world.client!.closing == nil)
  }
}
