import Glibc
import Messages
import Processor
import Recording
import Settings

/// The session manager's requests: save, and open while Pinna runs (the capability `switch`).
///
/// A switch has stages (`NSMClient.Opening`), none of which waits. First Pinna asks whether it can have the new name, if
/// the manager gives one; then the project is read, the name claimed, and the setting applied. If any of these fails,
/// nothing has changed, and the previous project stays open. Only then does Pinna leave the graph, and join it under
/// that name.
extension NSMClient: RequestSource {
  var descriptor: Int32 { socket.descriptor }
  var patience: Duration? { opening != nil || isSaving ? .milliseconds(2) : nil }
  var droppedPackets: Int { socket.droppedPackets }
  package func serve(_ controller: Controller) { controller.serve(self) }
}

extension Controller {
  /// Serves one message of the session manager, and advances the open and the saves under way.
  fileprivate func serve(_ nsm: NSMClient) {
    if let message = nsm.socket.receive() {
      switch NSMRequest(message) {
      case .save: nsm.save(processor.memory)
      case .open(let project): open(project, nsm)
      case nil: break
      }
    }
    nsm.pollSaves()
    pollOpening(nsm)
    nsm.publish(setting: RunMemory.LastSetting(processor.inForce))
    nsm.publish(progress: processor.designProgress)
  }

  private func open(_ project: NSMProject, _ nsm: NSMClient) {
    if let obstacle = obstacle(toOpening: project, nsm) {
      return nsm.refuse(NSMRequest.openPath, obstacle.0, obstacle.1)
    }
    if project.clientID != socket.name, let client = processor.client {
      let deadline = ContinuousClock.now + NSMClient.replyPatience
      nsm.opening = .naming(project, client.isTaken(project.clientID), deadline: deadline)
    } else {
      read(project, nsm)
    }
  }

  private func read(_ project: NSMProject, _ nsm: NSMClient) {
    nsm.opening = .reading(project, nsm.read(project), deadline: .now + NSMClient.diskPatience)
  }

  private func obstacle(toOpening project: NSMProject, _ nsm: NSMClient) -> (NSMError, String)? {
    if nsm.opening != nil { return (.notNow, "another project is being opened; try again when it is open") }
    do throws(Failure) { _ = try RuntimeFolder.socket(named: project.clientID) } catch {
      return (.general, error.description)
    }
    return obstacleNow.map { (.notNow, $0) }
  }

  /// Why no project can be opened now; nil if one can.
  private var obstacleNow: String? {
    do throws(Failure) { try processor.refuseNow([.preset("")]) } catch {
      return error.description
    }
    // Whoever waits for the end of a take is answered by the socket that a rename replaces.
    if processor.takes.closing.contains(where: { !$0.stopRequests.isEmpty }) {
      return "a take is still being written; try again when it is on disk"
    }
    return register.controller.map {
      "the session \($0) controls the route; try again when it has released it"
    }
  }

  private func pollOpening(_ nsm: NSMClient) {
    switch nsm.opening {
    case .naming(let project, let job, let deadline):
      switch job.result {
      case .success(false): read(project, nsm)
      case .success(true):
        nsm.endOpening(
          .general,
          "the JACK graph has a client \(project.clientID) already, or its server has that name; close that client, or "
            + "give this one another ID")
      case .failure(let failure): nsm.endOpening(.general, failure.description)
      case nil where .now > deadline:
        job.abandon()
        nsm.endOpening(.general, "the JACK server does not answer; try again when it does")
      case nil: break
      }
    case .reading(let project, let job, let deadline):
      switch job.result {
      case .success(.success(let contents)): apply(project, contents, nsm)
      case .success(.failure(let error)): nsm.endOpening(error.code, error.failure.description)
      case .failure(let failure): nsm.endOpening(.general, failure.description)
      case nil where .now > deadline:
        job.abandon()
        nsm.endOpening(.general, NSMClient.diskFailure(project).description)
      case nil: break
      }
    case .starting where processor.state.isInGraph: nsm.endOpening(nil, "opened")
    case .renaming(let deadline):
      if processor.state.isInGraph {
        nsm.endOpening(nil, "opened")
      } else if .now > deadline || processor.state.kind == .stranded {
        nsm.endOpening(
          .general,
          "the project is open, but Pinna has not joined the JACK graph again; it keeps trying: is a server running?"
        )
      }
    case .starting, .applying, nil: break
    }
  }

  /// Fades to the project's setting.
  private func apply(_ project: NSMProject, _ contents: NSMProject.Contents, _ nsm: NSMClient) {
    // A take may have begun while the project was read.
    if let obstacleNow { return nsm.endOpening(.notNow, obstacleNow) }
    let newSocket: NamedSocket?
    do throws(Failure) {
      newSocket = project.clientID == socket.name ? nil : try NamedSocket(name: project.clientID)
    } catch { return nsm.endOpening(.general, error.description) }
    nsm.opening = .applying(project, contents, newSocket, old: processor.wanted)
    fade(to: contents.setting, Request { [unowned self] in applied($0, nsm) })
  }

  /// As the choice of a preset does, this replaces a change of device that is pending.
  private func fade(to setting: Setting, _ request: Request) {
    request.attempt { try processor.set([.preset(setting.preset)], preset: setting, request) }
  }

  /// Starts a take, unless a project's setting is being applied: its connections and its folder would be replaced during
  /// the take.
  package func startTake(_ takeRequest: TakeRequest, _ request: Request) throws {
    if nsm?.isApplying ?? false {
      throw Failure(.failed, "the session manager is opening a project; start the take when it is open")
    }
    try processor.startTake(takeRequest, request)
  }

  private func applied(_ outcome: Outcome, _ nsm: NSMClient) {
    guard case .applying(let project, let contents, let newSocket, let old) = nsm.opening else { return }
    do {
      if case .failed(let failure) = outcome { throw failure }
      if let newSocket { try rename(to: project.clientID, newSocket) }
    } catch {
      nsm.endOpening(.general, Failure(error).description)
      // What the user has chosen since stays.
      guard processor.wanted != old, processor.wanted.preset == contents.setting.preset else { return }
      let request = Request { [warn] outcome in
        guard case .failed(let failure) = outcome else { return }
        warn("the setting of the open project is not restored: \(failure); open the project again")
      }
      return fade(to: old, request)
    }
    processor.world.takesFolder = contents.takesFolder
    processor.world.replaceConnections(with: contents.connections)
    nsm.adopt(project, contents)
    if processor.state.isInGraph {
      nsm.endOpening(nil, "opened")
    } else {
      nsm.opening = .renaming(deadline: .now + .seconds(15))
    }
  }

  /// Takes another name: the control socket moves at once, and the JACK client is closed and opened again.
  /// - Throws: if Pinna cannot leave the graph now; then it keeps its name.
  private func rename(to name: String, _ new: NamedSocket) throws {
    try processor.clientOutsideTakeOrFadeOut()
    try udp?.rename(to: name)
    announce(EngineEvent(.engineGone, "Pinna is called \(name) from now on"))
    socket.rename(
      to: new, Answer(.notRunning, "Pinna is called \(name) now; add: --name \(name)").message)
    // Sessions are at the Pinna of the previous name.
    register = SessionRegister()
    processor.world.rename(to: name)
    processor.rejoinGraph(because: "Pinna is called \(name) from now on")
  }
}

extension Processor {
  /// What a project or the next run needs to continue from here.
  var memory: RunMemory { RunMemory(inForce, world.restorableConnections) }

  /// The completed fraction of the filter design that is under way, from 0 to 1; nil if there is none.
  package var designProgress: Double? {
    if case .joining(_, let job) = state { return job.progress }
    if case .designing(let job)? = change?.phase { return job.progress }
    return nil
  }
}
