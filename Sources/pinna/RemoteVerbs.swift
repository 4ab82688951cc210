import Control
import Foundation

/// Verbs that ask a running Pinna and print what it answers.
extension Verb {
  /// Sends a message; on success prints the answer's JSON, or what `words` makes of its document for people.
  /// - Parameter seconds: how long to wait for the answer, or for the next word of progress.
  static func ask<Document: Decodable>(
    _ arguments: Arguments, _ message: OSCMessage, seconds: Double = 30, _ words: (Document) -> String
  ) throws -> ExitStatus {
    try report(arguments, words) { client, onProgress throws(Failure) in
      try client.request(message, seconds: seconds, onProgress: onProgress)
    }
  }

  /// Shows the progress of a request, then its answer.
  private static func report<Document: Decodable>(
    _ arguments: Arguments, _ words: (Document) -> String,
    _ request: (ControlClient, _ onProgress: (RequestProgress) -> Void) throws(Failure) -> Answer
  ) throws -> ExitStatus {
    var shown: (text: String, show: (Double) -> Void)?
    let answer = try request(ControlClient(name: arguments.name)) { progress in
      if shown?.text != progress.text { shown = (progress.text, WorkProgress.show(progress.text)) }
      shown?.show(progress.part)
    }
    WorkProgress.endLine()
    guard answer.status == .done else { throw Failure(answer.status, answer.text) }
    // As it came: a newer Pinna's fields are kept.
    print(arguments.isJSON ? answer.text : words(try answer.document()))
    return .done
  }

  static let status = Verb(
    name: "status", summary: "what the running Pinna is doing",
    options: [Option("--picture", nil, "draw where left and right are"), nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/status")) { (report: StatusReport) in
      report.text + (arguments.has("--picture") ? "\n" + report.picture : "")
    }
  }

  static let inputs = Verb(
    name: "inputs", summary: "inputs, data sources and their polar patterns",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/inputs"), \InputsReport.text)
  }

  static let set = Verb(
    name: "set",
    summary: "change input, data source, polar pattern, input orientation, gain; several are one change",
    options: [
      Option("--input", "UID", "another input, see: pinna inputs"),
      Option("--data-source", "NAME", "a data source of the device, see: pinna inputs"),
      Option("--pattern", "PATTERN", "omnidirectional, subcardioid, cardioid …, stereo"),
      Option("--orientation", "ORIENTATION", "portrait, portraitUpsideDown, landscapeLeft, landscapeRight"),
      Option("--gain", "DB", "from -60 to 24"),
      Option("--mute", "on|off", "fade out, or in again"),
      Option("--output", "OUTPUT", "where sound goes: standard, none, speaker (the monitor ports), override"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    let pairs = Setting.keys.flatMap { key in arguments["--" + key].map { [key, $0] } ?? [] }
    guard !pairs.isEmpty else {
      throw Failure(
        .usage, "pinna set needs a change: \(Setting.keys.map { "--" + $0 }.joined(separator: ", "))")
    }
    return try ask(arguments, OSCMessage("/pinna/set", pairs.map { .string($0) }), \ChangeReport.text)
  }

  static let stop = Verb(
    name: "stop", summary: "end the running Pinna, finalising a take", options: [nameOption, jsonOption]
  ) { arguments in
    try report(arguments, \StopAnswer.text) { client, onProgress throws(Failure) in
      try client.stop(onProgress: onProgress)
    }
  }

  static let presetUse = Verb(
    name: "preset use", operands: ["NAME"], summary: "change the running Pinna to a preset",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/preset/use", [.string(arguments.operands[0])]), \ChangeReport.text)
  }

  static let presetCancel = Verb(
    name: "preset cancel", summary: "give up another device that is on its way",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/preset/cancel"), \CancelAnswer.text)
  }
}
