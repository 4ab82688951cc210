import AudioFiles
import Glibc
import Messages
import Text

extension Verb {
  static let recordStart = Verb(
    name: "record start", summary: "start a take; settings cannot change until it ends",
    options: [
      Option("--dir", "DIR", "folder for the take (default: pinna in the music folder)"),
      Option("--feeds", "NAMES", "the feeds to record, a file each, such as main,anna (default: all)"),
      Option("--raw", nil, "also record all microphones to a second file, in sync with the first"),
      Option(
        "--format", "FORMAT",
        "float (32 bits, the default), pcm24 (which clips), flac or opus (converted at the end)"),
      Option("--for", "TIME", "end it by itself after this time: 3h, 90min, 1h30min, 45s"),
      Option("--split-size", "MB", "start another file before one exceeds this size"),
      Option("--split-minutes", "MINUTES", "start another file after this time"),
      Option(
        "--transport", nil, "arm the take: it begins when JACK's transport rolls, and ends when it stops"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    var words: [String] = []
    // The running Pinna may have another working folder, and follows no links. A link that the user typed is resolved
    // here.
    if let folder = arguments["--dir"] {
      words += ["dir", try OutputPath.withoutLinks(folder)]
    }
    if let feeds = arguments["--feeds"] { words += ["feeds", feeds] }
    if arguments.has("--raw") { words += ["raw", "on"] }
    if arguments.has("--transport") { words += ["transport", "on"] }
    if let format = arguments["--format"] { words += ["format", format] }
    if let length = arguments["--for"] { words += ["for", length] }
    for (option, range) in [("--split-size", 1...1_000_000), ("--split-minutes", 1...10_000)] {
      guard let number = try arguments.integer(option, in: range) else { continue }
      words += [String(option.dropFirst(2)), "\(number)"]
    }
    return try ask(
      arguments, OSCMessage("/pinna/record/start", words.map { .string($0) }), \TakeStartAnswer.text)
  }

  // The timeout covers the conversion of a long take.
  static let recordStop = request(
    "record stop", to: "/pinna/record/stop", seconds: 3600,
    summary: "end the take and finalise it, or disarm it; exit status 7 if it is incomplete",
    \RecordStopAnswer.text)

  static let recordMarker = request(
    "record marker", ["[LABEL]"], takesText: true, to: "/pinna/record/marker",
    summary: "mark the present place of the take, in its sidecar and as a cue of its WAV files",
    \MarkerAnswer.text)

  static let recordTitle = request(
    "record title", ["TITLE"], takesText: true, to: "/pinna/record/title",
    summary: "name the running take in its sidecar; an empty title removes it", \TitleAnswer.text)
}

extension MarkerAnswer {
  /// "marker 2 at 0:01:05.3: Second verse"
  fileprivate var text: String {
    "marker \(marker) at \(seconds.clock)" + (label == "\(marker)" ? "" : ": \(label.printable)")
  }
}

extension TitleAnswer {
  fileprivate var text: String {
    title.isEmpty ? "the take has no title" : "the take is called \(title.printable)"
  }
}
