import AudioFiles
import Control
import Foundation

extension Verb {
  static let recordStart = Verb(
    name: "record start", summary: "start a take; nothing may change until it ends",
    options: [
      Option("--dir", "DIR", "folder for the take (default: pinna in the music folder)"),
      Option("--raw", nil, "all microphones as a second file, in step with the first"),
      Option(
        "--format", "FORMAT",
        "float (32 bits, the default), pcm24 (which clips), flac or opus (converted at the end)"),
      Option("--split-size", "MB", "go on in another file before one passes so many megabytes"),
      Option("--split-minutes", "MINUTES", "go on in another file after so many minutes"),
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
    for (option, range) in [("--split-size", 1...1_000_000), ("--split-minutes", 1...10_000)] {
      guard let number = try arguments.integer(option, in: range) else { continue }
      words += [String(option.dropFirst(2)), "\(number)"]
    }
    return try ask(
      arguments, OSCMessage("/pinna/record/start", words.map { .string($0) }), \TakeStartAnswer.text)
  }

  static let recordStop = Verb(
    name: "record stop", summary: "end the take and finalise it; status 7 where it is incomplete",
    options: [nameOption, jsonOption]
  ) { arguments in
    // Converting a long take takes its time.
    try ask(arguments, OSCMessage("/pinna/record/stop"), seconds: 3600, \TakeAnswer.text)
  }
}
