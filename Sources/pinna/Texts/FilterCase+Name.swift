import Acoustics
import Messages

extension FilterCase {
  /// Such as "Back, stereo, portrait".
  var name: String { words.joined(separator: ", ") }

  /// The orientation is null for mono patterns.
  var json: JSONObject {
    ["dataSource": dataSource, "polarPattern": polarPattern, "inputOrientation": inputOrientation]
  }
}
