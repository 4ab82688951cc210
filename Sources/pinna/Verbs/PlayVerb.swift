import Glibc
import Messages
import Processor
import Recording
import Settings
import Text

extension Verb {
  static let play = Verb(
    name: "play", operands: ["[TAKE]"],
    summary: "play a take through the outputs, in place of the microphones",
    options: [Option("--stop", nil, "fade out and stop the playback"), nameOption, jsonOption]
  ) { arguments in
    if arguments.has("--stop") {
      guard arguments.operands.isEmpty else {
        throw Failure(.usage, "pinna play --stop needs no take; leave it out")
      }
      return try ask(arguments, OSCMessage("/pinna/play/stop"), \PlaybackReport.stopText)
    }
    guard let name = arguments.operands.first else {
      throw Failure(.usage, "pinna play needs a take, or --stop; see: pinna play --help")
    }
    let path = try take(name)
    try InputPath.check(path, "give a take; to list them, run: pinna takes list")
    return try ask(arguments, OSCMessage("/pinna/play", [.string(path)]), \PlaybackReport.startText)
  }
}

extension PlaybackReport {
  package var startText: String {
    "playing \(playing.printable): \("frame".counted(frames)), \("channel".counted(channels))"
  }

  package var stopText: String { "stopped \(playing.printable) after \(framesPlayed) of \(frames) frames" }
}
