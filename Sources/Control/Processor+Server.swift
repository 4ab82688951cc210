import JackClient
import Recording

extension Processor {
  var serverState: Rejoin.State { rejoin?.state ?? .running }

  /// The server has gone: a take is finalised, everyone who waits is told, and the client is closed.
  /// - Returns: false where it cannot be closed, so that there is no way back; and what became of the take.
  func leaveServer(_ reason: String) -> (canRejoin: Bool, take: TakeWriter.Result?) {
    let take = finishTake()
    endPlayback()
    giveUp(Answer(.noServer, "the JACK server has gone (\(reason)) before this was done; start it again"))
    keepWhatIsInForce()
    // Closed before the next is opened: libjack shares the server's memory among a program's clients.
    let closed = (rejoin?.client?.close() ?? true) && client.close()
    if rejoin == nil { wiring.loseAll() }
    rejoin = Rejoin(reason: reason)
    notify(EngineEvent(.serverGone, "the JACK server has gone (\(reason))"))
    return (closed, take)
  }

  /// Looks for the server, and goes back into its graph.
  func pollServer() {
    guard let rejoin, rejoin.obstacle == nil else { return }
    if let design = rejoin.design, let client = rejoin.client {
      guard let result = design.result.withLock({ $0 }) else { return }
      switch result {
      case .success(let sets): join(client, sets)
      case .failure(let failure):
        // The client stays, so that we hear when this server goes, too.
        self.rejoin!.obstacle = failure.description
        warn(self.rejoin!.sentence)
      }
    } else if .now >= rejoin.nextTry {
      self.rejoin!.waitForNextTry()
      do {
        let client = try newClient()
        if client.sampleRate == sets.bank.sampleRate { return join(client, sets) }
        self.rejoin!.client = client
        self.rejoin!.design = FilterDesignJob(device: inForce.device, sampleRate: client.sampleRate)
      } catch .noServer {
      } catch {
        complainOnce(error)
      }
    }
  }

  private func join(_ newClient: ArrayClient, _ newSets: FilterSets) {
    let newEngine = makeEngine(newSets)
    do {
      try newClient.install(newEngine, of: inForce.device, newSets)
      try newClient.activate()
      adopt(newClient)
      adopt(newEngine, newSets)
      try post(inForce, reply: nil)
    } catch {
      newClient.close()
      rejoin!.client = nil
      rejoin!.design = nil
      return complainOnce(error)
    }
    rejoin = nil
    notify(EngineEvent(.serverBack, "the JACK server is back"))
    warn(
      "the JACK server is back, at \(newClient.sampleRate) Hz, period \(newClient.period); "
        + "preset \(inForce.preset)")
    tendWiring()
  }

  /// Of an attempt that is made again and again.
  private func complainOnce(_ error: any Error) {
    let complaint = String(describing: error)
    if rejoin!.complaint != complaint { warn(complaint) }
    rejoin!.complaint = complaint
  }

  /// Some twenty times a second, however often it is called.
  func pollGraph() {
    guard .now >= nextLook else { return }
    tendWiring()
  }

  /// Makes connections again whose other ends are back, and tells of those that are lost.
  func tendWiring() {
    nextLook = .now + .milliseconds(45)
    defer { watchInputs() }
    guard rejoin == nil else { return }
    var restored: [String] = []
    for event in client.tend(&wiring) {
      switch event {
      case .lost(let wire):
        take?.note("\(wire.port) has lost \(wire.peer)")
        warn("\(wire.port) has lost \(wire.peer); it is connected again when that is back")
        notify(EngineEvent(.portGone, "\(wire.port) has lost \(wire.peer)"))
      case .restored(let wire):
        take?.note("\(wire.port) is connected to \(wire.peer) again")
        restored.append("\(wire.port) to \(wire.peer)")
        notify(EngineEvent(.portBack, "\(wire.port) is connected to \(wire.peer) again"))
      }
    }
    watchGraph()
    routeOutputs()
    if !restored.isEmpty { warn("connected again: \(restored.sorted().joined(separator: ", "))") }
  }
}
