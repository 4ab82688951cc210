import Acoustics
import Control
import FoundationEssentials
import Glibc
import JackClient
import JackWorld
import Messages
import Presets
import Processor
import Settings
import Text
import Threads
import WebPage

extension Verb {
  static let run = Verb(
    name: "run", showsProgress: false,
    summary: "run the processor as a JACK client, in the foreground",
    options: [
      Option("--preset", "NAME", "initial preset (default: phone5)"), deviceOption,
    ] + options(SettingKey.following, talkers: "find out who speaks where, also where nothing adapts") + [
      Option("--name", "NAME", "the JACK client's name (default: pinna)"),
      Option("--server", "NAME", "the JACK server (default: the default one)"),
      Option("--wait", "SECONDS", "how long to wait for a server (default: 0)"),
      Option(
        "--connect", "[microphones|outputs|all]",
        "connect those to the sound card (default: all; beside --virtual-microphone the microphones)"),
      Option(
        "--monitor", "PORTS",
        "JACK ports to connect the outputs to: left,right; may be given twice, for one each"),
      Option("--connect-from", "CLIENT", "connect the microphones to this client's ports, in order"),
      Option(
        "--virtual-microphone", "NAME",
        "PipeWire: offer the outputs to the desktop's programs as a microphone of this name"),
      Option("--bank", "NAME", "the presets that MIDI program changes choose (default: all)"),
      Option("--no-connect", nil, "do not connect anything, not even what was connected in the last run"),
      Option(
        "--keep-connections", nil, "make the outputs' connections again after other programs quit and return"),
      Option("--resume", nil, "begin with the setting of the last run, if there is one"),
      Option(
        "--pre-roll", "SECONDS",
        "a take begins this long before it is requested, but not before the last change (default: 0)"),
      Option(
        "--osc-port", "PORT", "also listen for OSC over UDP, on this machine only; 0 for any free port"),
      Option(
        "--osc-address", "ADDRESS", "listen there instead of 127.0.0.1; only in a network that you trust"),
      Option(
        "--pose-port", "PORT", "listen for head trackers there, over UDP; at --osc-address if that is given"),
      Option(
        "--pose-from", "WHOM",
        "whose poses count there: own (your programs on this machine, the default), any, or an IP address"),
      Option(
        "--pose-axes", "ANGLES",
        "which angles of head trackers count as yaw, pitch and roll: -yaw,pitch,roll mirrors yaw"),
      seatOption,
      Option("--radians", nil, "head trackers send angles in radians, not degrees"),
      Option(
        "--web", "PORT",
        "serve a web page on 127.0.0.1, and print its address with a token; 0 for any free port"),
      isaOption,
      Option("--no-reconnect", nil, "exit when the JACK server ends, instead of waiting for it to come back"),
    ]
  ) { arguments in
    // Both change the environment.
    let service = ServiceManager()
    PipeWire.describeNodes(application: DesktopEntry.id, media: "microphone array")
    Output.queue()
    let events = ControllerEvents()
    Signals.listen(events)
    let nsm = NSMClient.join(isStopped: { events.stopRequested }, complain: Tool.complain)
    do { return try run(arguments, events, nsm, service) } catch {
      nsm?.leave(Failure(error).description)
      throw error
    }
  }

  /// - Parameter nsm: the session manager; its project replaces the memory of the last run, and its client ID the name.
  private static func run(
    _ given: Arguments, _ events: ControllerEvents, _ nsm: NSMClient?, _ service: ServiceManager
  ) throws -> ExitStatus {
    var arguments = given
    let library = PresetLibrary.standard
    _ = try arguments.instructionSet()
    let memory = try LastRun(arguments, isManaged: nsm != nil)
    let initial = try memory.setting(in: library)
    let project = try nsm?.openFirst(initial: initial, library: library)
    let setting = project?.setting ?? initial
    if let id = nsm?.project?.clientID {
      if let name = arguments["--name"], name != id {
        Tool.complain("the session manager calls this Pinna \(id); --name \(name) does not count")
      }
      arguments.options["--name"] = [id]
    }
    let name = arguments.name
    let warn = { (sentence: String) in
      Tool.complain(sentence)
      nsm?.tell(sentence.printable)
      service.tell(status: sentence)
    }
    let socket = try ControlSocket(name: arguments.name)
    let virtual = try arguments["--virtual-microphone"].map {
      try VirtualMicrophone(name: $0, server: arguments["--server"])
    }
    let processor = try processor(arguments, setting, library, events, memory, project, virtual, warn)
    let udp = try udpSocket(arguments)
    let poses = try poseSocket(arguments)
    processor.takeTracker(try poseAxes(arguments))
    let web = PageServer(arguments, takesFolder: project?.takesFolder)
    try web.serveIfAsked(arguments)
    defer { web.remove() }
    let midi = try midiSetup(arguments, library)
    let wait = try arguments.integer("--wait", in: 0...86400) ?? 0
    service.tell(status: "not in the graph yet")
    let (end, takes) = Controller(
      socket: socket, udp: udp, poses: poses, nsm: nsm, processor: processor, events: events, midi: midi,
      wait: .seconds(wait), servePage: { try web.serve() },
      onStart: {
        let start =
          "\(name) is in the graph: \("microphone".counted(setting.device.microphones.count)), "
          + "\(given["--device"] == nil ? "preset" : "device") \(setting.preset)"
        service.tellReady(start)
        Tool.complain(
          "\(start); stop with Ctrl-C or pinna stop\(name == "pinna" ? "" : " --name \(name)")")
      }, onStop: { service.tellStopping() }, tell: { Tool.say($0) }, warn: warn
    ).run()
    if let path = takes.earlierIncomplete { Tool.complain("an earlier take is incomplete: \(path)") }
    switch end {
    case .stopped: return takes.areComplete ? .done : .incompleteTake
    case .notStarted(let failure): throw failure
    case .serverGone(let reason):
      throw Failure(.noServer, "the JACK server has gone (\(reason)); start it again, then pinna run")
    }
  }

  /// What MIDI does. A mistake in the controllers' file is only reported: sound does not depend on it.
  /// - Throws: if the bank of --bank cannot be used.
  private static func midiSetup(_ arguments: Arguments, _ library: PresetLibrary) throws -> MIDISetup {
    let bank = try library.bank(named: arguments["--bank"])
    do { return try MIDISetup(library, bank: arguments["--bank"]) } catch {
      Tool.complain("MIDI controllers change nothing: \(error)")
      return MIDISetup(bank: bank, chosenBank: arguments["--bank"])
    }
  }

  /// The UDP socket of --osc-port, announced to the operator; nil without that option.
  private static func udpSocket(_ arguments: Arguments) throws(Failure) -> UDPSocket? {
    guard let port = try arguments.integer("--osc-port", in: 0...65_535) else {
      guard arguments["--osc-address"] == nil || arguments.has("--pose-port") else {
        throw Failure(.usage, "--osc-address needs a port; add --osc-port PORT, or 0 for any free one")
      }
      return nil
    }
    let udp = try UDPSocket(
      name: arguments.name, host: arguments["--osc-address"] ?? "127.0.0.1", port: UInt16(port))
    Tool.complain(udp.announcement)
    if let warning = udp.warning { Tool.complain(warning) }
    return udp
  }

  /// The UDP socket of --pose-port, announced to the operator; nil without that option.
  private static func poseSocket(_ arguments: Arguments) throws(Failure) -> PoseSocket? {
    guard let port = try arguments.integer("--pose-port", in: 0...65_535) else {
      for option in ["--radians", "--pose-from"] where arguments.has(option) {
        throw Failure(.usage, "\(option) is about head trackers; add --pose-port PORT")
      }
      return nil
    }
    let whom = arguments["--pose-from"] ?? "own"
    guard let trusted = PoseSocket.Trusted(whom) else {
      throw Failure(.usage, "--pose-from \(whom.quoted) is not usable; give own, any, or an IP address")
    }
    let poses = try PoseSocket(
      host: arguments["--osc-address"] ?? "127.0.0.1", port: UInt16(port),
      isInRadians: arguments.has("--radians"), from: trusted)
    Tool.complain(poses.announcement)
    return poses
  }

  /// The value of --pose-axes.
  private static func poseAxes(_ arguments: Arguments) throws(Failure) -> TrackerMounting.Axes {
    let word = arguments["--pose-axes"]
    guard let axes = word.map(TrackerMounting.Axes.init) ?? .straight else {
      throw Failure(
        .usage,
        "--pose-axes \(word!.quoted) is not usable; name yaw, pitch and roll once each, perhaps with a minus, such as "
          + "-yaw,pitch,roll")
    }
    return axes
  }

  /// What --connect connects.
  private static func connected(_ arguments: Arguments) throws(Failure) -> (microphones: Bool, outputs: Bool)
  {
    guard arguments.has("--connect") else { return (false, false) }
    switch arguments.connectWord {
    case "microphones": return (true, false)
    case "outputs": return (false, true)
    case "all": return (true, true)
    case let word:
      throw Failure(
        .usage, "--connect \(word.quoted) is not usable; give microphones, outputs or all, or leave it out")
    }
  }

  /// The ports of --monitor: one for both outputs, or one each.
  private static func monitorPorts(_ arguments: Arguments) throws(Failure) -> [String] {
    guard arguments.has("--monitor") else { return [] }
    let ports = arguments.list("--monitor").filter { !$0.isEmpty }
    guard (1...2).contains(ports.count), ports.allSatisfy({ $0.dropFirst().dropLast().contains(":") }) else {
      throw Failure(
        .usage,
        "--monitor \(ports.joined(separator: ",").printable(limit: 80)) is not usable; give one or two full JACK port "
          + "names, such as system:playback_1,system:playback_2, with \\, for a comma in a name")
    }
    // Pairs, so that other ports may follow.
    return ports.count == 1 ? [ports[0], ports[0]] : ports
  }

  private static func processor(
    _ arguments: Arguments, _ setting: Setting, _ library: PresetLibrary, _ events: ControllerEvents,
    _ memory: LastRun, _ project: NSMProject.Contents?, _ virtual: VirtualMicrophone?,
    _ warn: @escaping (String) -> Void
  ) throws -> Processor {
    var options = JackWorld.Options(name: arguments.name, server: arguments["--server"])
    (options.connectsMicrophones, options.connectsOutputs) = try connected(arguments)
    options.findsTalkers = arguments.flags.contains("--talkers")
    options.preRollSeconds = try arguments.integer("--pre-roll", in: 0...60) ?? 0
    options.instructionSet = try arguments.instructionSet()
    options.monitor = try monitorPorts(arguments) + (virtual?.ports ?? [])
    options.source = arguments["--connect-from"]
    options.keepsConnections = arguments.has("--keep-connections")
    options.runMemory = memory.file
    if !arguments.has("--no-connect") { options.lastConnections = project?.connections ?? memory.connections }
    options.takesFolder = project?.takesFolder
    for option in ["--connect", "--connect-from"] where arguments.has("--no-connect") && arguments.has(option)
    {
      throw Failure(.usage, "\(option) and --no-connect exclude each other; give one")
    }
    return Processor(
      world: JackWorld(
        options, library: library, events: events, progress: WorkProgress.designing),
      setting: setting, monitor: options.monitor, preRollSeconds: options.preRollSeconds,
      reconnects: !arguments.has("--no-reconnect"), warn: warn)
  }
}

extension Arguments {
  /// What --connect names. What others hear as a microphone is not also played to the loudspeakers beside it.
  var connectWord: String {
    self["--connect"] ?? (has("--virtual-microphone") ? "microphones" : "all")
  }
}

/// The process that serves the web page, from the start with --web, or when `pinna monitor --web` asks for it. Its address
/// stands in a file.
///
/// Thread: any that may wait.
private final class PageServer: Sendable {
  private let name: String
  private let takesFolder: String?
  private let deviceFile: String?
  private let running = Locked<(process: WebProcess, file: RuntimeFile)?>(nil)

  init(_ arguments: Arguments, takesFolder: String?) {
    name = arguments.name
    self.takesFolder = takesFolder
    let isFile = arguments["--device"].map { $0.contains("/") || $0.hasSuffix(".yaml") } ?? false
    deviceFile = isFile ? arguments["--device"] : nil
  }

  func serveIfAsked(_ arguments: Arguments) throws {
    guard let port = try arguments.integer("--web", in: 0...65_535) else {
      // Of a Pinna that was killed.
      unlink(RuntimeFile.path(name: name, kind: PageOpener.kind))
      return
    }
    _ = try serve(port: UInt16(port))
  }

  /// - Parameter port: 0 for any free one.
  /// - Returns: the page's address, with its token.
  func serve(port: UInt16 = 0) throws -> String {
    try running.withLock { running in
      if let address = running?.process.address { return address }
      let web = try WebProcess(name: name, port: port, takesFolder: takesFolder, deviceFile: deviceFile)
      let file = try RuntimeFile(
        name: name, kind: PageOpener.kind, text: web.address, remedy: "leave out --web")
      Tool.complain("web page: \(web.address)")
      try web.onEnd { [self] in
        file.remove()
        self.running.withLock { $0 = nil }
        Tool.complain("the web page's process has ended; to have it back, run: pinna monitor --web")
      }
      running = (web, file)
      return web.address
    }
  }

  func remove() { running.withLock { $0?.file.remove() } }
}
