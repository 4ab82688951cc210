import Acoustics
import Glibc
import Messages
import Processor
import Settings

/// Verbs that send a request to a running Pinna and print its answer.
extension Verb {
  /// Sends a request. Prints the answer's JSON, or the text that `describe` returns for its document.
  /// - Parameters:
  ///   - seconds: the timeout for the answer, restarted by each progress report.
  ///   - describe: turns the answer's document into text for people.
  /// - Throws: a `Failure` with the answer's status, unless that is 0.
  static func ask<Document: Decodable>(
    _ arguments: Arguments, _ message: OSCMessage, seconds: Double = 30, _ describe: (Document) -> String
  ) throws -> ExitStatus {
    try report(arguments, describe) { client, onProgress throws(Failure) in
      try client.request(message, seconds: seconds, onProgress: onProgress)
    }
  }

  /// Shows the progress of a request, then prints its answer.
  private static func report<Document: Decodable>(
    _ arguments: Arguments, _ describe: (Document) -> String,
    _ request: (ControlClient, _ onProgress: (RequestProgress) -> Void) throws(Failure) -> Answer
  ) throws -> ExitStatus {
    var shown: (text: String, show: (Double) -> Void)?
    let answer = try request(ControlClient(name: arguments.name)) { progress in
      if shown?.text != progress.text { shown = (progress.text, WorkProgress.show(progress.text)) }
      shown?.show(progress.part)
    }
    guard answer.status == .done else { throw Failure(answer.status, answer.text) }
    // The JSON is printed unchanged, so that fields of a newer Pinna are not lost.
    if arguments.isJSON { Tool.say(json: answer.text) } else { Tool.say(describe(try answer.document())) }
    return .done
  }

  /// A verb that is one request, whose arguments are its operands.
  static func request<Document: Decodable & SendableMetatype>(
    _ name: String, _ operands: [String] = [], takesText: Bool = false, to path: String,
    seconds: Double = 30, summary: String, _ describe: @escaping @Sendable (Document) -> String
  ) -> Verb {
    Verb(
      name: name, operands: operands, takesText: takesText, summary: summary,
      options: [nameOption, jsonOption]
    ) { arguments in
      let message = OSCMessage(path, arguments.operands.map { .string($0) })
      return try ask(arguments, message, seconds: seconds, describe)
    }
  }

  /// The document of the answer to a request, of which nothing is printed.
  /// - Throws: a `Failure` with the answer's status, unless that is 0.
  static func answer<Document: Decodable>(_ arguments: Arguments, _ method: String, _ words: String...)
    throws(Failure) -> Document
  {
    let message = OSCMessage(method, words.map { .string($0) })
    return try ControlClient(name: arguments.name).request(message, seconds: 30).document()
  }

  static let status = Verb(
    name: "status", summary: "show what the running Pinna is doing",
    options: [Option("--picture", nil, "draw where left and right are"), nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/status")) { (report: StatusReport) in
      report.text + (arguments.has("--picture") ? "\n" + report.picture : "")
    }
  }

  static let inputs = request(
    "inputs", to: "/pinna/inputs",
    summary: "list inputs, data sources and their polar patterns", \InputsReport.text)

  static let set = Verb(
    name: "set",
    summary: "change input, data source, polar pattern, orientation, gain …; all options form one change",
    options: [
      Option("--feed", "NAME", "change this feed (default: main)")
    ] + settingOptions(SettingKey.allCases) + [
      Option("--centre", nil, "alone, also during takes: the head tracker's present pose is straight ahead"),
      Option(
        "--nod", nil, "alone, after --centre, while the wearer looks down: learns how the tracker is mounted"),
      Option("--turn", nil, "the same, while the wearer looks to the left"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    let keys = SettingKey.allCases.map(\.rawValue)
    var arguments = arguments
    if let seats = arguments.options["--seat"] {
      arguments.options["--seat"] = [seats.joined(separator: ";")]
    }
    let pairs = arguments.pairs(of: keys)
    let steps = ["centre", "nod", "turn"].filter { arguments.has("--" + $0) }
    if let step = steps.first {
      guard pairs.isEmpty, steps.count == 1 else {
        throw Failure(.usage, "--\(step) is about the head tracker, not a change; give it alone")
      }
      return try ask(arguments, OSCMessage("/pinna/pose/\(step)"), \StatusFields.TrackerReport.text)
    }
    guard !pairs.isEmpty else {
      throw Failure(
        .usage, "pinna set needs a change: \(keys.map { "--" + $0 }.joined(separator: ", "))")
    }
    // What no Pinna would accept is said whether one is running or not.
    do { _ = try Change.list(pairs[...]) } catch { throw Failure(.usage, "\(error)") }
    let words = pairs.map { OSCMessage.Argument.string($0) }
    if let feed = arguments["--feed"], !FeedSetting.isMain(feed) {
      return try ask(
        arguments, OSCMessage(OSCMethod.feedSet, [.string(feed)] + words), seconds: 120, \FeedAnswer.text)
    }
    // Filters for a look may have to be designed.
    return try ask(arguments, OSCMessage("/pinna/set", words), seconds: 120, \ChangeReport.text)
  }

  static let stop = Verb(
    name: "stop", summary: "stop the running Pinna; a take in progress is finalised",
    options: [nameOption, jsonOption]
  ) { arguments in
    try report(arguments, \StopAnswer.text) { client, onProgress throws(Failure) in
      try client.stop(onProgress: onProgress)
    }
  }

  static let forget = Verb(
    name: "forget",
    summary: "forget the connections that Pinna would make again when their other ends are back",
    options: [nameOption, jsonOption]
  ) { arguments in
    do {
      return try ask(arguments, OSCMessage("/pinna/forget"), \ForgetAnswer.text)
    } catch let failure as Failure where failure.status == .notRunning {
      guard let path = RunMemoryFile.path(name: arguments.name) else { throw failure }
      let answer = ForgetAnswer(forgotten: try RunMemoryFile.forgetConnections(path))
      if arguments.isJSON { Tool.say(json: json(answer)) } else { Tool.say(answer.text) }
      return .done
    }
  }

  static let presetUse = request(
    "preset use", ["NAME"], to: "/pinna/preset/use",
    summary: "switch the running Pinna to a preset", \ChangeReport.text)

  static let presetCancel = request(
    "preset cancel", to: "/pinna/preset/cancel",
    summary: "cancel a change to another device that is in progress", \CancelAnswer.text)
}
