// Not with PINNA_ONLY_CORE: sanitizers build no session manager.
import Settings

#if canImport(LiveSupport)
  import Control
  import Messages
  import Processor
  import Foundation
  import LiveSupport
  import Presets
  import Recording
  import TestSupport
  import Testing

  /// A controller in a fake world, under a session manager that opens projects.
  final class ManagedRig {
    let rig: Rig
    let peer = NSMPeer()
    let folder: TemporaryFolder
    let name = "pinna.n\(UInt32.random(in: 0 ... .max))"
    let environment: [String: String]
    private let udp: UDPSocket?
    private(set) var controller: Controller!
    private let client: NSMClient
    private(set) var warnings: [String] = []

    private final class Joined: @unchecked Sendable {
      // Unchecked: written by one thread before `semaphore`, read by another after it. `isStopped` only ends the wait.
      let semaphore = DispatchSemaphore(value: 0)
      var client: NSMClient?
      nonisolated(unsafe) var isStopped = false
    }

    /// - Parameters:
    ///   - hasProject: whether the manager has opened a project.
    ///   - hasUDP: whether OSC over UDP is on.
    init(hasProject: Bool = true, hasUDP: Bool = false) throws {
      rig = Rig.live()
      folder = try TemporaryFolder()
      environment = ["XDG_RUNTIME_DIR": folder.path]
      let joined = Joined()
      let environment = ["NSM_URL": peer.url()]
      Thread.detachNewThread {
        joined.client = NSMClient.join(
          environment: environment, program: "pinna", isStopped: { joined.isStopped }, complain: { _ in })
        joined.semaphore.signal()
      }
      _ = try peer.welcome()
      if hasProject {
        peer.sendOpen(folder.path + "/a", id: name)
      } else {
        // Its refusal says that the project is waited for.
        _ = try peer.save()
        joined.isStopped = true
      }
      joined.semaphore.wait()
      guard let client = joined.client else { throw SupportError("no session manager was joined") }
      self.client = client
      _ = try client.openFirst(initial: Rig.setting, library: PresetLibrary(folders: [folder.path]))
      let socket = try ControlSocket(name: name, environment: self.environment)
      udp = hasUDP ? try UDPSocket(name: name, port: 0, environment: self.environment) : nil
      controller = Controller(
        socket: socket, udp: udp, nsm: client, processor: rig.processor, events: ControllerEvents(),
        onStart: {},
        tell: { _ in }, warn: { [unowned self] in warnings.append($0) })
      client.endOpening(nil, "opened")
    }

    /// Runs the control thread's loop once.
    func turn(periods: Int = 0) {
      client.serve(controller)
      rig.run(periods: periods)
    }

    /// Serves the manager until the request at `path` is answered.
    /// - Returns: nil for a reply, otherwise the code of the error and its sentence.
    func answer(to path: String, periods: Int = 1) throws -> (code: Int, sentence: String)? {
      let end = ContinuousClock.now + .seconds(20)
      while .now < end {
        turn(periods: periods)
        let isAnswer = { (message: OSCMessage) in
          ["/reply", "/error"].contains(message.path) && message.arguments.first == .string(path)
        }
        guard let message = peer.message(seconds: 0.002, where: isAnswer) else { continue }
        return message.path == "/reply" ? nil : (Int(message.words[1]) ?? 0, message.words[2])
      }
      throw SupportError("\(path) was not answered")
    }

    func sendOpen(_ project: String, id: String? = nil) {
      peer.sendOpen(folder.path + "/" + project, id: id ?? name)
    }

    func open(_ project: String, id: String? = nil, periods: Int = 1) throws -> (code: Int, sentence: String)?
    {
      // The answer to the first project, if it has not been read yet.
      while peer.message(seconds: 0) != nil {}
      sendOpen(project, id: id)
      return try answer(to: "/nsm/client/open", periods: periods)
    }

    func startTake() -> Rig.SentRequest {
      rig.ask("record start") { [controller] in try controller!.startTake(TakeRequest(words: []), $1) }
    }
  }

  /// Switches between projects while Pinna runs.
  @Suite("Switches between projects") struct SwitchTests {
    @Test("a change of device that is pending is replaced: it does not take over in the opened project")
    func pendingDevice() throws {
      let managed = try ManagedRig()
      let rig = managed.rig
      let device = rig.set(["input": "b"], gain: 3)
      #expect(device.outcome == nil)
      #expect(try managed.open("b") == nil)
      #expect(device.status == .failed && device.text.contains("replaced"), "\(device.text)")
      rig.finishChange()
      #expect(rig.processor.inForce == Rig.setting)
    }

    @Test("while a device takes over, an open is refused, and the device stays")
    func fadeOut() throws {
      let managed = try ManagedRig()
      let rig = managed.rig
      rig.set(["input": "b"], gain: 3)
      rig.endDesign()
      rig.endPreparing()
      #expect(rig.processor.state.kind == .fadingOut)
      let error = try managed.open("b", periods: 0)
      #expect(error?.code == -8 && error?.sentence.contains("taking over") == true, "\(error as Any)")
      rig.finishChange()
      #expect(rig.processor.inForce.device == Rig.other)
    }

    @Test("S13: while a project's setting is being applied no take starts, and nothing is saved")
    func applying() throws {
      let managed = try ManagedRig()
      let rig = managed.rig
      rig.set(["input": "b"], gain: 3)
      rig.finishChange()
      #expect(rig.processor.inForce.device == Rig.other)
      // The setting comes into force, and its connections are waited for.
      rig.world.client?.looksEnd = false
      managed.sendOpen("b")
      let isInForce = waitUntil(seconds: 20) {
        managed.turn()
        rig.finishChange()
        return rig.processor.inForce.device == Rig.home
      }
      #expect(isInForce)
      let take = managed.startTake()
      #expect(take.status == .failed && take.text.contains("opening a project"), "\(take.text)")
      managed.peer.send("/nsm/client/save")
      let save = try managed.answer(to: "/nsm/client/save")
      #expect(save?.code == -8, "\(save as Any)")
      rig.advance(.seconds(2))
      #expect(try managed.answer(to: "/nsm/client/open") == nil)
      #expect(rig.world.takesFolder?.hasSuffix("/b/takes") == true && rig.world.replacement == [])
      #expect(managed.startTake().outcome == nil && rig.world.takes.count == 1)
    }

    @Test("if Pinna cannot take the new name, the previous project stays open, with its setting")
    func noRename() throws {
      let managed = try ManagedRig(hasUDP: true)
      let rig = managed.rig
      rig.set(["pattern": "cardioid"], gain: 3)
      rig.run(periods: 3)
      let before = rig.processor.inForce
      // The token file cannot be moved.
      try FileManager.default.removeItem(atPath: managed.folder.path + "/pinna")
      let error = try managed.open("b", id: managed.name + "x")
      #expect(error?.code == -1, "\(error as Any)")
      rig.run(periods: 3)
      #expect(
        rig.processor.inForce == before && rig.processor.state.kind == .live && rig.world.name == "pinna")
      #expect(rig.world.takesFolder == nil && rig.world.replacement == nil && managed.warnings.isEmpty)
    }

    @Test("if no period runs that could apply a project's setting, that of the previous one stays")
    func standstill() throws {
      let managed = try ManagedRig()
      let rig = managed.rig
      rig.set(["pattern": "cardioid"], gain: 3)
      rig.run(periods: 3)
      let before = rig.processor.inForce
      while managed.peer.message(seconds: 0) != nil {}
      managed.sendOpen("b")
      let isPosted = waitUntil(seconds: 20) {
        managed.turn()
        return rig.processor.wanted != before
      }
      #expect(isPosted)
      rig.advance(.seconds(4))
      #expect(try managed.answer(to: "/nsm/client/open", periods: 0)?.code == -1)
      rig.run(periods: 10)
      #expect(rig.processor.inForce == before && rig.processor.wanted == before)
    }

    @Test("while somebody waits for the end of a take, an open is refused")
    func closingTake() throws {
      let managed = try ManagedRig()
      let take = managed.rig.record()
      let stop = managed.rig.stopTake()
      managed.rig.run(periods: 1)
      #expect(managed.rig.processor.state.kind == .live && stop.outcome == nil)
      let error = try managed.open("b")
      #expect(error?.code == -8 && error?.sentence.contains("still being written") == true, "\(error as Any)")
      managed.rig.finish(take)
      #expect(stop.status == .done)
      #expect(try managed.open("b") == nil)
    }

    @Test("a first project that comes late, under the name that Pinna has, leaves it in the graph")
    func lateProject() throws {
      let managed = try ManagedRig(hasProject: false)
      #expect(try managed.open("a") == nil)
      #expect(managed.rig.world.client?.closing == nil && managed.rig.world.name == "pinna")
      #expect(managed.rig.world.takesFolder?.hasSuffix("/a/takes") == true)
    }
  }
#endif
