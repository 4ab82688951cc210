import Acoustics
import Messages
import Text

/// Verbs for the feeds besides `main`.
extension Verb {
  static let feedList = Verb(
    name: "feed list", summary: "list the feeds of the running Pinna besides main",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(arguments, OSCMessage("/pinna/feed/list"), \FeedsAnswer.text)
  }

  static let feedAdd = Verb(
    name: "feed add", operands: ["NAME"],
    summary: "let the running Pinna play another case, on ports of its own",
    options: [
      Option("--data-source", "NAME", "a data source of the device (default: main's)"),
      Option("--format", "FORMAT", "stereo, mono, or ambix for B-format"),
      Option("--order", "N", "the order of B-format, from 1 to 4 (default: 1)"),
      Option("--pattern", "PATTERN", "omnidirectional, cardioid …, stereo (default: main's)"),
      Option("--orientation", "ORIENTATION", "portrait … (default: main's)"),
      Option("--look", "AZ[,EL]", "where a mono pattern looks, in degrees: see set"),
      Option("--roll", "DEGREES", "see set (default: main's)"),
      Option("--yaw", "DEGREES", "see set (default: main's)"),
      Option("--follow", "WHAT", "see set (default: main's)"),
      Option("--gain", "DB", "gain in decibels, from -60 to 24 (default: 0)"),
      Option("--high-pass", "HZ|off", "high-pass of its outputs, from 20 to 400 Hz (default: off)"),
      nameOption, jsonOption,
    ]
  ) { arguments in
    let keys = [
      "data-source", "format", "order", "pattern", "orientation", "look", "roll", "yaw", "follow", "gain",
      "high-pass",
    ]
    let pairs = keys.flatMap { key in arguments["--" + key].map { [key, $0] } ?? [] }
    let words = [arguments.operands[0]] + pairs
    // The design of a B-format may take minutes; its progress restarts the limit.
    return try ask(
      arguments, OSCMessage("/pinna/feed/add", words.map { .string($0) }), seconds: 120, \FeedAnswer.text)
  }

  static let feedRemove = Verb(
    name: "feed remove", operands: ["NAME"], summary: "end a feed, and remove its ports",
    options: [nameOption, jsonOption]
  ) { arguments in
    try ask(
      arguments, OSCMessage("/pinna/feed/remove", [.string(arguments.operands[0])]), \FeedAnswer.text)
  }
}

extension FeedReport: PoseReport {
  /// One line: "anna: Left, cardioid, -3 dB; ports anna".
  var text: String { text(with: nil) }

  /// - Parameter tracker: the pose that comes in.
  func text(with tracker: StatusReport.TrackerReport?) -> String {
    var text = "\(name): \(dataSource), \(polarPattern.phrase)\(look.map { " at \($0)" } ?? "")"
    if polarPattern.isOriented { text += ", \(inputOrientation.rawValue)" }
    text += poseText(with: tracker)
    if gainDB != 0 { text += String(format: ", %+g dB", gainDB) }
    if let highPassHz { text += String(format: ", high-pass %g Hz", highPassHz) }
    if muted { text += ", muted" }
    text += "; " + (outputs.count == 1 ? "port " : "ports ") + outputs.map(\.name).joined(separator: ", ")
    if let weak { text += "; weak: " + weak.printable }
    if let obstacle { return text + "; not heard: " + obstacle.printable }
    return isHeard ? text : text + "; being prepared"
  }
}

extension FeedAnswer {
  var text: String { feed?.text ?? "removed: \(removed ?? "")" }
}

extension FeedsAnswer {
  var text: String {
    feeds.isEmpty
      ? "there are no feeds besides main; add one with: pinna feed add"
      : feeds.map(\.text).joined(separator: "\n")
  }
}
