import Acoustics
import Messages
import Settings
import Text

/// Verbs for the feeds besides `main`.
extension Verb {
  static let feedList = request(
    "feed list", to: "/pinna/feed/list",
    summary: "list the feeds of the running Pinna besides main", \FeedsAnswer.text)

  static let feedAdd = Verb(
    name: "feed add", operands: ["NAME"],
    summary: "let the running Pinna play another case, on ports of its own",
    options: [
      Option("--format", "FORMAT", "stereo, mono, or ambix for B-format"),
      Option("--order", "N", "the order of B-format, from 1 to 4 (default: 1)"),
    ] + settingOptions(SettingKey.ofFeeds, " (default: see set)") + [
      nameOption, jsonOption,
    ]
  ) { arguments in
    let pairs = arguments.pairs(of: ["format", "order"] + SettingKey.ofFeeds.map(\.rawValue))
    let words = [arguments.operands[0]] + pairs
    // The design of a B-format may take minutes; its progress restarts the limit.
    return try ask(
      arguments, OSCMessage("/pinna/feed/add", words.map { .string($0) }), seconds: 120, \FeedAnswer.text)
  }

  static let feedRemove = request(
    "feed remove", ["NAME"], to: "/pinna/feed/remove",
    summary: "end a feed, and remove its ports", \FeedAnswer.text)
}

extension FeedReport {
  /// One line: "anna: Left, cardioid, -3 dB; ports anna".
  var text: String { text(with: nil) }

  /// - Parameter tracker: the pose that comes in.
  func text(with tracker: StatusFields.TrackerReport?) -> String {
    let selection = self.selection
    let look = selection.look.map { " at \($0)" } ?? ""
    var text = "\(self.name): \(selection.dataSource), \(selection.polarPattern.phrase)\(look)"
    if selection.polarPattern.isOriented { text += ", \(selection.inputOrientation.rawValue)" }
    text += selection.poseText(with: tracker)
    text += self.first.heardText
    text +=
      "; " + (self.outputs.count == 1 ? "port " : "ports ") + self.outputs.map(\.name).joined(separator: ", ")
    if let weak = self.weak { text += "; weak: " + weak.printable }
    if let obstacle = self.obstacle { return text + "; not heard: " + obstacle.printable }
    return self.isHeard ? text : text + "; being prepared"
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
