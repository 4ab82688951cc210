import Control
import Foundation
import JackClient
import Presets

extension Verb {
  static let run = Verb(
    name: "run", summary: "run the processor as a JACK client, in the foreground",
    options: [
      Option("--preset", "NAME", "initial preset (default: phone5)"), deviceOption,
      Option("--name", "NAME", "the JACK client's name (default: pinna)"),
      Option("--server", "NAME", "the JACK server (default: the default one)"),
      Option("--wait", "SECONDS", "how long to wait for a server (default: 0)"),
      Option(
        "--connect", nil, "connect microphones and outputs to the hardware, by the device's capture channels"),
      Option("--monitor", "PORTS", "JACK ports to connect the outputs to: left,right"),
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
      isaOption,
      Option("--no-reconnect", nil, "exit when the JACK server ends, instead of waiting for it to come back"),
    ]
  ) { arguments in
    Output.queue()
    let library = PresetLibrary.standard
    let memory = try LastRun(arguments)
    let setting = try memory.setting(in: library)
    _ = try arguments.instructionSet()
    let events = ControllerEvents()
    Signals.listen(events)
    let socket = try ControlSocket(name: arguments.name)
    let virtual = try arguments["--virtual-microphone"].map {
      try VirtualMicrophone(name: $0, server: arguments["--server"])
    }
    let processor = try processor(arguments, setting, library, events, memory, virtual)
    let udp = try udpSocket(arguments)
    let midi = try midiSetup(arguments, library)
    let wait = try arguments.integer("--wait", in: 0...86400) ?? 0
    let (end, takes) = Controller(
      socket: socket, udp: udp, processor: processor, events: events, midi: midi, wait: .seconds(wait),
      onStart: {
        Tool.complain(
          "\(arguments.name) is in the graph: \(setting.device.microphones.count) microphones, "
            + "\(arguments["--device"] == nil ? "preset" : "device") \(setting.preset); "
            + "stop with Ctrl-C or pinna stop")
      }, tell: Tool.say, warn: Tool.complain
    ).run()
    if let path = takes.earlierIncomplete { Tool.complain("an earlier take is incomplete: \(path)") }
    switch end {
    case .stopped: return takes.areComplete ? .done : .incompleteTake
    case .notStarted(let failure): throw failure
    case .serverGone(let reason):
      throw Failure(.noServer, "the JACK server has gone (\(reason)); start it again, then pinna run")
    }
  }

  /// What MIDI does. A broken file of controllers is said, and ignored: sound does not depend on it.
  private static func midiSetup(_ arguments: Arguments, _ library: PresetLibrary) throws -> MIDISetup {
    do { return try MIDISetup(library, bank: arguments["--bank"]) } catch let error as DescriptionError {
      Tool.complain("MIDI controllers change nothing: \(error)")
    }
    return MIDISetup(bank: try library.bank(named: arguments["--bank"]))
  }

  /// The UDP socket of --osc-port, announced to the operator; nil without that option.
  private static func udpSocket(_ arguments: Arguments) throws(Failure) -> UDPSocket? {
    guard let port = try arguments.integer("--osc-port", in: 0...65_535) else {
      guard arguments["--osc-address"] == nil else {
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

  /// The ports of --monitor: one for both outputs, or one each.
  private static func monitorPorts(_ arguments: Arguments) throws(Failure) -> [String] {
    guard let text = arguments["--monitor"] else { return [] }
    let ports = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    guard (1...2).contains(ports.count), ports.allSatisfy({ $0.dropFirst().dropLast().contains(":") }) else {
      throw Failure(
        .usage,
        "--monitor \(text) is not usable; give one or two full JACK port names, such as "
          + "system:playback_1,system:playback_2")
    }
    // Pairs, so that other ports may follow.
    return ports.count == 1 ? [ports[0], ports[0]] : ports
  }

  private static func processor(
    _ arguments: Arguments, _ setting: Setting, _ library: PresetLibrary, _ events: ControllerEvents,
    _ memory: LastRun, _ virtual: VirtualMicrophone?
  ) throws -> Processor {
    var options = JackWorld.Options(name: arguments.name, server: arguments["--server"])
    options.connect = arguments.has("--connect")
    options.preRollSeconds = try arguments.integer("--pre-roll", in: 0...60) ?? 0
    options.instructionSet = try arguments.instructionSet()
    options.monitor = try monitorPorts(arguments) + (virtual?.ports ?? [])
    options.source = arguments["--connect-from"]
    options.keepsConnections = arguments.has("--keep-connections")
    options.runMemory = memory.file
    if !arguments.has("--no-connect") { options.lastConnections = memory.connections }
    for option in ["--connect", "--connect-from"] where arguments.has("--no-connect") && arguments.has(option)
    {
      throw Failure(.usage, "\(option) and --no-connect exclude each other; give one")
    }
    return Processor(
      world: JackWorld(
        options, library: library, events: events, progress: WorkProgress.designing),
      setting: setting, monitor: options.monitor, preRollSeconds: options.preRollSeconds,
      reconnects: !arguments.has("--no-reconnect"), warn: Tool.complain)
  }
}
