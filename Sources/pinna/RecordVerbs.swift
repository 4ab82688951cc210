import AudioFiles
import Control
import Foundation

extension Verb {
  static let recordStart = Verb(
    name: "record start", summary: "start a take; nothing may change until it ends",
    options: [
      Option("--dir", "DIR", "folder for the take (default: pinna in the music folder)"),
      Option("--raw", nil, "all microphones as a second file, in step with the first"),
      Option("--format", "float|pcm24", "32-bit float (the default), or 24-bit integers, which clip"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    var words: [String] = []
    // The running Pinna may have another working folder, and follows no links; whoever types one means it.
    if let folder = arguments["--dir"] {
      words += ["dir", try OutputPath.withoutLinks(folder)]
    }
    if arguments.has("--raw") { words += ["raw", "on"] }
    if let format = arguments["--format"] { words += ["format", format] }
    return try ask(arguments, OSCMessage("/pinna/record/start", words.map { .string($0) })) {
      "recording \($0.string("take"))" + ($0.boolean("muted") ? ": silence, for the outputs are muted" : "")
    }
  }

  static let recordStop = Verb(
    name: "record stop", summary: "end the take and finalise it; status 7 where it is incomplete",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/record/stop"), \.takeText)
  }
}

extension AnswerDocument {
  fileprivate var takeText: String {
    var text = "\(string("take")): \(integer("frames")) frames, \(integer("channels")) channel(s)"
    let notes = [
      string("microphones").isEmpty ? nil : "microphones in \(string("microphones"))",
      integer("clippedSamples") > 0 ? "\(integer("clippedSamples")) samples clipped" : nil,
      integer("silencedSamples") > 0
        ? "\(integer("silencedSamples")) samples that were no sound silenced" : nil,
      integer("pauses") > 0 ? "the server stood still \(integer("pauses")) time(s)" : nil,
    ].compactMap { $0 }
    for note in notes { text += "; " + note }
    return text
  }
}
