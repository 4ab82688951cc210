/// Something that happened in a running Pinna, told to whoever has a session open there.
public struct EngineEvent: Hashable, Sendable, Codable {
  public enum Kind: String, Sendable, Codable {
    /// The JACK server has gone, or is back.
    case serverGone, serverBack
    /// It runs no periods, or does so again.
    case serverStalled, serverResumed
    /// The other end of a connection has gone, or is back.
    case portGone, portBack
    case periodChanged
    /// Physical capture ports came or went.
    case inputsChanged
    /// Another input is in the route.
    case inputChanged
    /// Another input that was asked for does not come.
    case inputChangeFailed
    /// Another data source, polar pattern or input orientation is in force.
    case selectionChanged
    /// Another session controls the route, or none.
    case controlChanged
    /// The take began, or ended; so did a playback.
    case takeBegan, takeEnded
    case playbackBegan, playbackEnded
    /// The sound goes out elsewhere.
    case outputChanged
    /// The running Pinna has ended, or another one has taken its place.
    case engineGone, engineBack
  }

  public let kind: Kind
  /// What happened, for people.
  public let text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  static let path = "/pinna/event"
  var message: OSCMessage { OSCMessage(Self.path, [.string(kind.rawValue), .string(text)]) }

  init?(_ message: OSCMessage) {
    let words = message.split.message.words
    guard message.path == Self.path, words.count == 2, let kind = Kind(rawValue: words[0]) else { return nil }
    self.init(kind, words[1])
  }
}
