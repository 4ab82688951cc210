import Text

/// An event in a running Pinna, sent to all open sessions.
public struct EngineEvent: Hashable, Sendable, Codable {
  public enum Kind: String, Sendable, Codable {
    /// The JACK server has gone, or is back.
    case serverGone, serverBack
    /// No periods reach Pinna, or they do again.
    case serverStalled, serverResumed
    /// The peer of a connection has gone, or is back.
    case portGone, portBack
    /// A microphone no longer works, or works again.
    case microphoneGone, microphoneBack
    case periodChanged
    /// Filters for the server's new sample rate are in force.
    case sampleRateChanged
    /// Physical capture ports have appeared or disappeared.
    case inputsChanged
    /// Another input is in the route.
    case inputChanged
    /// A change to another input has failed.
    case inputChangeFailed
    /// Another data source, polar pattern or input orientation is in force.
    case selectionChanged
    /// Another session controls the route, or the route is free.
    case controlChanged
    case takeBegan, takeEnded
    /// `takeArmed`: a take waits for the transport. `takeDisarmed`: it waits no longer, and recorded nothing.
    case takeArmed, takeDisarmed
    case playbackBegan, playbackEnded
    /// The outputs are connected to other ports.
    case outputChanged
    /// The running Pinna has ended, or another one has replaced it.
    case engineGone, engineBack
  }

  public let kind: Kind
  /// What happened, as a printable sentence.
  public let text: String

  public init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text.printable
  }

  static let path = "/pinna/event"
  package var message: OSCMessage { OSCMessage(Self.path, [.string(kind.rawValue), .string(text)]) }

  /// - Parameter message: a message with or without its request number. Any other message than an event gives nil.
  package init?(_ message: OSCMessage) {
    let words = message.split.message.words
    guard message.path == Self.path, words.count == 2, let kind = Kind(rawValue: words[0]) else { return nil }
    self.init(kind, words[1])
  }
}
