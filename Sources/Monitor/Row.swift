import Messages

/// What keys change. Each has a row in the view, where a refusal appears, and at most one request under way.
package enum Row: String, CaseIterable, Hashable, Sendable {
  case source, pattern, orientation, gain, highPass, mute, preset, record, marker, listen

  var title: String {
    switch self {
    case .source: "Source"
    case .pattern: "Pattern"
    case .orientation: "Orientation"
    case .gain: "Gain"
    case .highPass: "High-pass"
    case .mute: "Mute"
    case .preset: "Preset"
    case .record: "Record"
    case .marker: "Markers"
    case .listen: "Listen"
    }
  }

  /// As the row shows them.
  var keys: String {
    switch self {
    case .source: "d"
    case .pattern: "p"
    case .orientation: "o"
    case .gain: "+-"
    case .highPass: "h"
    case .mute: "m"
    case .preset: "s"
    case .record: "r"
    case .marker: "k"
    case .listen: "l"
    }
  }

  /// As the help explains them.
  package var help: (keys: String, effect: String) {
    switch self {
    case .source: ("d D", "next or previous data source")
    case .pattern: ("p P", "next or previous polar pattern")
    case .orientation: ("o O", "next or previous orientation")
    case .gain: ("+ -", "gain up or down by 1 dB")
    case .highPass: ("h H", "high-pass: next or previous corner, or off")
    case .mute: ("m", "mute, or sound again")
    case .preset: ("s", "choose a preset")
    case .record: ("r", "start a take; twice within 3 s: end it")
    case .marker: ("k K", "mark this moment of the take; K: with a text")
    case .listen: ("l", "listen to one microphone, or to all")
    }
  }

  /// Whether a newer request of the row takes the place of one that has not been sent.
  var isSetting: Bool { ![.record, .marker].contains(self) }

  /// How long to wait for an answer, or for the next word of progress.
  var seconds: Double { self == .preset || self == .record ? 30 : 10 }
}

/// A request that a key asks for.
package struct Command: Hashable, Sendable {
  package let row: Row
  package let message: OSCMessage

  init(_ row: Row, _ path: String, _ words: String...) {
    self.row = row
    message = OSCMessage(path, words.map { .string($0) })
  }
}

/// What came of a request. A value; any thread.
package enum Outcome: Hashable, Sendable {
  case progress(RequestProgress)
  /// `kept`: why the change comes into force later only.
  case done(kept: String?)
  case failed(String)
}
