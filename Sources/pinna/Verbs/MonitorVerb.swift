import FoundationEssentials
import Monitor

extension Verb {
  static let monitor = Verb(
    name: "monitor", showsProgress: false,
    summary:
      "watch and control the running Pinna in a terminal: meters, takes, every setting; ? shows its keys",
    options: [nameOption]
  ) { arguments in
    let type = ProcessInfo.processInfo.environment["TERM"] ?? "dumb"
    try MonitorLoop.run(name: arguments.name, terminal: type, allowsColour: Output.allowsColour)
    return .done
  }
}
