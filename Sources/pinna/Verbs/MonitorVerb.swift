import FoundationEssentials
import Messages
import Monitor
import Settings

extension Verb {
  static let monitor = Verb(
    name: "monitor", showsProgress: false,
    summary:
      "watch and control the running Pinna in a terminal: meters, takes, every setting; ? shows its keys",
    options: [
      Option(
        "--web", nil,
        "open the web page in a browser instead; if no Pinna is running, start it as at login does"),
      Option("--desktop", nil, "with --web: show a failure in the browser, too"), nameOption,
    ]
  ) { arguments in
    if arguments.has("--web") {
      try PageOpener(name: arguments.name).open(showsFailure: arguments.has("--desktop"))
      return .done
    }
    guard !arguments.has("--desktop") else {
      throw Failure(.usage, "--desktop is about the web page; add --web, or leave it out")
    }
    let type = ProcessInfo.processInfo.environment["TERM"] ?? "dumb"
    try MonitorLoop.run(name: arguments.name, terminal: type, allowsColour: Output.allowsColour)
    return .done
  }
}
