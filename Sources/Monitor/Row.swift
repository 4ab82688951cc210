import Messages

/// What keys change. Each has a row in the view, where a refusal appears, and at most one request under way.
package enum Row: String, CaseIterable, Hashable, Sendable {
  case source, pattern, orientation, gain, highPass, mute, preset, record, marker, listen

  package struct Words {
    let title: String
    /// Of its row.
    let key: String
    /// Of the help.
    let keys: String
    package let effect: String
  }

  /// What its row and the help say.
  package var words: Words {
    func words(_ title: String, _ key: String, _ keys: String, _ effect: String) -> Words {
      Words(title: title, key: key, keys: keys, effect: effect)
    }
    return switch self {
    case .source: words("Source", "d", "d D", "next or previous data source")
    case .pattern: words("Pattern", "p", "p P", "next or previous polar pattern")
    case .orientation: words("Orientation", "o", "o O", "next or previous orientation")
    case .gain: words("Gain", "+-", "+ -", "gain up or down by 1 dB")
    case .highPass: words("High-pass", "h", "h H", "high-pass: next or previous corner, or off")
    case .mute: words("Mute", "m", "m", "mute, or sound again")
    case .preset: words("Preset", "s", "s", "choose a preset")
    case .record: words("Record", "r", "r", "start a take; twice within 3 s: end it")
    case .marker: words("Markers", "k", "k K", "mark this moment of the take; K: with a text")
    case .listen: words("Listen", "l", "l", "listen to one microphone, or to all")
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
