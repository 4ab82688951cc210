import Acoustics
import AudioFiles
import Detection
import Diagnosis
import FoundationEssentials
import Glibc
import JackClient
import JackTools
import Messages
import Presets
import Processor
import Recording
import Settings
import Text

extension Verb {
  static let doctor = Verb(
    name: "doctor",
    summary:
      "say what stands in the way of reliable sound on this machine, and what to do about it; status 1 for a fault",
    options: [
      Option("--report", "FILE", "write a report for a bug report, without secrets"),
      Option("--force", nil, "replace the file of --report"),
      Option("--dir", "DIR", "the folder for takes to examine (default: the one of record start)"),
      nameOption,
      Option("--server", "NAME", "the JACK server (default: the default one)"), jsonOption,
    ]
  ) { arguments in
    let file = try arguments["--report"].map { try OutputFile($0, replacing: arguments.has("--force")) }
    let examination = try Examination(arguments)
    try file?.write(examination.report.utf8)
    let findings = examination.findings
    if arguments.isJSON {
      Tool.say(
        json: ([
          "findings": findings, "faults": findings.count(.fault), "warnings": findings.count(.warning),
        ] as JSONObject).text)
    } else {
      Output.say(printable: findings.text(hasColour: Output.allowsColour && isatty(STDOUT_FILENO) != 0))
      if let path = file?.path {
        Tool.say("\(path) has all of it for a bug report; read it before you send it")
      }
    }
    return findings.count(.fault) == 0 ? .done : .failed
  }
}

/// Everything that `pinna doctor` looks at, gathered once. Every wait has a time limit.
private struct Examination {
  private let root = SystemRoot()
  private let name: String
  private let environment = ProcessInfo.processInfo.environment
  private let library = LoadedLibrary(
    version: JackLibrary.version, path: JackLibrary.path ?? "", isPipeWire: JackLibrary.isPipeWire)
  private let cards: [DetectedCard]
  private let dump: PipeWireDump?
  let findings: [Finding]

  init(_ arguments: Arguments) throws(Failure) {
    name = arguments.name
    let pipeWire = PipeWireState(environment)
    let typed = try arguments["--dir"].map(OutputPath.absolute)
    let sockets = RuntimeFolder.path()
    cards = Verb.detectedCards(in: .standard)
    var dump: PipeWireDump?
    if case .listens = pipeWire { dump = CommandOutput.of("pw-dump").flatMap(PipeWireDump.init) }
    self.dump = dump
    let server = Self.server(arguments["--server"])
    findings =
      root.scheduling(.measured(), server)
      + root.server(
        library, server, pipeWire,
        named: arguments["--server"] ?? environment["JACK_DEFAULT_SERVER"] ?? "default")
      + [.sockets(in: sockets, fault: Self.fault(ofSockets: sockets))]
      + Self.findings(ofPinna: name)
      + (dump?.findings(cards) ?? [])
      + DiskState.findings(DiskState.measured { TakeFolder(path: typed).path })
  }

  /// Whether something is heard of a running Pinna, and whether other programs removed it; empty if none answers.
  private static func findings(ofPinna name: String) -> [Finding] {
    guard let answer = try? ControlClient(name: name).request(OSCMessage("/pinna/status"), seconds: 2),
      answer.status == .done, let status: StatusReport = try? answer.document()
    else { return [] }
    let sound =
      status.silenceFound.map { reason, remedy in
        Finding.warning("sound of \(name)", reason, because: "nothing is heard", remedy: remedy)
      } ?? .ok("sound of \(name)", "microphones have a signal, and outputs are connected")
    let removals = status.abandonedClients.map {
      Finding.removals($0, of: JackConnection.mostAbandonedClients)
    }
    return [sound] + (removals.map { [$0] } ?? [])
  }

  private static func server(_ name: String?) -> ServerState {
    let state = try? ServerRequests(stops: StopCount()).ask(within: .seconds(3)) { () -> ServerState in
      do {
        let connection = try JackConnection(name: "pinna-doctor-\(getpid())", server: name)
        defer { connection.close() }
        try connection.activate()
        return .answers(
          rate: connection.sampleRate, period: connection.period,
          connection.lacksRealtime ? .refusedToClients : connection.isServerRealtime ? .realtime : .none)
      } catch JackError.noServer {
        return .refuses("none answers")
      } catch { return .refuses("\(error)") }
    }
    return state ?? .hangs
  }

  /// Why `pinna run` would refuse the folder. A folder that is not there yet has no fault.
  private static func fault(ofSockets folder: String) -> String? {
    guard FileManager.default.fileExists(atPath: folder) else { return nil }
    do throws(Failure) { try RuntimeFolder.prepare() } catch { return error.description }
    return nil
  }

  /// For a bug report.
  var report: String {
    var report = BugReport(home: HomeFolder.path(), user: ProcessInfo.processInfo.userName)
    report.add("findings", findings.text(hasColour: false))
    report.add("pinna", "pinna \(Tool.version)")
    report.add("libjack", "\(library.version) \(library.path)")
    report.add("kernel", root.kernel)
    report.add("distribution", root.distribution)
    report.add("processor", root.processor)
    report.add("environment", BugReport.environment(environment))
    report.add("sound cards", root.soundCards)
    report.add("detected", cards.text)
    report.add("status of \(name)", status)
    report.add("PipeWire's sound cards and nodes", dump?.text)
    return report.text.printableLines
  }

  /// The status of a running Pinna; nil if none answers.
  private var status: String? {
    let answer = try? ControlClient(name: name).request(OSCMessage("/pinna/status"), seconds: 2)
    return answer?.status == .done ? answer?.text : nil
  }
}

extension [Finding] {
  func count(_ mark: Finding.Mark) -> Int { count { $0.mark == mark } }

  /// A line per finding, with the reason and the remedy below what is not well.
  func text(hasColour: Bool) -> String {
    let width = (map(\.subject.count).max() ?? 0) + 2
    let indent = String(repeating: " ", count: 9)
    let lines = flatMap { finding in
      let mark = finding.mark.rawValue.padded(9)
      return [
        (hasColour ? "\u{1b}[\(finding.mark.colour)m\(mark)\u{1b}[0m" : mark)
          + finding.subject.printable.padded(width)
          + finding.found.printable,
        finding.reason.map { "\(indent)why: \($0.printable)" },
        finding.remedy.map { "\(indent)fix: \($0.printable)" },
      ].compactMap(\.self)
    }
    let (faults, warnings) = (count(.fault), count(.warning))
    return (lines + ["\("fault".counted(faults)), \("warning".counted(warnings))"]).joined(separator: "\n")
  }
}

extension Finding.Mark {
  /// The terminal's colour.
  fileprivate var colour: Int {
    switch self {
    case .ok: 32
    case .warning: 33
    case .fault: 31
    }
  }
}

extension PipeWireDump {
  fileprivate var text: String {
    (cards.map { "\($0.id) \($0.description), profile \($0.active?.name ?? "unknown")" } + nodes)
      .joined(separator: "\n")
  }
}
