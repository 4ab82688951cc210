import Acoustics
import Messages
import Settings

/// What keys change. Each has a row in the view, where a refusal appears, and at most one request under way.
package enum Row: CaseIterable, Hashable, Sendable {
  case feed
  /// Of the chosen feed.
  case setting(SettingKey)
  case preset, record, marker, listen

  package static let allCases: [Row] =
    [.feed] + SettingKey.ofFeeds.filter { $0.row.feed?.line != nil }.map { .setting($0) }
    + [.preset, .record, .marker, .listen]

  package struct Words {
    let title: String
    /// Of its row.
    let key: String
    /// Of the help.
    let keys: String
    package let effect: String

    /// - Parameter key: nil for the first of `keys`.
    fileprivate init(_ title: String, _ keys: String, _ effect: String, key: String? = nil) {
      (self.title, self.keys, self.effect) = (title, keys, effect)
      self.key = key ?? keys.split(separator: " ").first.map(String.init) ?? ""
    }
  }

  /// What its row and the help say.
  package var words: Words {
    switch self {
    case .feed: Words("Feed", "f F", "next or previous feed, which d to m change")
    case .setting(let key):
      key.row.feed?.line.map {
        Words($0.title, $0.keys, $0.effect, key: key == .look ? "←→" : key == .gain ? "+-" : nil)
      } ?? Words("", "", "")
    case .preset: Words("Preset", "s", "choose a preset")
    case .record: Words("Record", "r R", "start a take, R: also raw; twice within 3 s: end it")
    case .marker: Words("Markers", "k K", "mark this moment of the take; K: with a text")
    case .listen: Words("Listen", "l", "listen to one microphone, or to all")
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
    self.init(row, OSCMessage(path, words.map { .string($0) }))
  }

  init(_ row: Row, _ message: OSCMessage) {
    self.row = row
    self.message = message
  }
}

/// What came of a request. A value; any thread.
package enum Outcome: Hashable, Sendable {
  case progress(RequestProgress)
  /// `kept`: why the change comes into force later only.
  case done(kept: String?)
  case failed(String)
}
