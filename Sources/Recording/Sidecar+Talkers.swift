import Acoustics
import Text

extension Sidecar {
  /// From about a frame on, where somebody speaks, or that nobody of this identity does.
  public struct Talker: Sendable, Hashable {
    /// Frame of the take, pre-roll included, within some 50 ms.
    public let frame: Int
    public let identity: Int
    /// From the data source of `main`; nil if it ends here.
    public let look: Look?
    /// RMS at the microphones, in decibels of full scale.
    public let level: Double

    public init(frame: Int, identity: Int, look: Look? = nil, level: Double = 0) {
      (self.frame, self.identity, self.look, self.level) = (frame, identity, look, level)
    }

    /// Whether another place is less than 5° away.
    public func isNear(_ other: Talker) -> Bool {
      guard let look, let there = other.look else { return false }
      let azimuth = abs(there.turned(left: -look.azimuth, up: 0).azimuth)
      return azimuth < 5 && abs(there.elevation - look.elevation) < 5
    }

    /// "4096 1 35,10 -32": frame, identity, azimuth and perhaps elevation, level; "9216 1 off" for an end.
    var text: String {
      guard let look else { return "\(frame) \(identity) off" }
      let whole = Look(azimuth: look.azimuth.rounded(), elevation: look.elevation.rounded())!
      return "\(frame) \(identity) \(whole.word) \((level.rounded() + 0).plain)"
    }
  }

  private static let talkerNote = "later talkers are not listed, because there were too many"

  /// Lists who speaks where.
  package mutating func list(_ more: [Talker]) {
    guard !more.isEmpty else { return }
    var all = talkers ?? ""
    for talker in more {
      guard all.utf8.count < Self.turnLimit else {
        if !notes.contains(Self.talkerNote) { notes.append(Self.talkerNote) }
        break
      }
      all += (all.isEmpty ? "" : "; ") + talker.text
    }
    talkers = all
  }
}
