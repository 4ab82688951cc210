import Settings

/// The answer of a running Pinna to a request.
public struct Answer: Hashable, Sendable {
  public let status: ExitStatus
  /// A JSON document if the status is 0, otherwise one sentence.
  public let text: String

  public init(_ status: ExitStatus, _ text: String) {
    self.status = status
    self.text = text
  }

  static let path = "/pinna/reply"

  package var message: OSCMessage { OSCMessage(Self.path, [.integer(status.rawValue), .string(text)]) }

  /// - Parameter message: a message without its request number. Any other message than a reply gives nil.
  package init?(_ message: OSCMessage) {
    guard message.path == Self.path, message.arguments.count == 2,
      case .integer(let code) = message.arguments[0], let status = ExitStatus(rawValue: code),
      case .string(let text) = message.arguments[1]
    else { return nil }
    self.init(status, text)
  }
}

/// The progress of a slow request.
public struct RequestProgress: Hashable, Sendable {
  /// What is being done.
  public let text: String
  /// Completed fraction, from 0 to 1.
  public let part: Double

  public init(text: String, part: Double) {
    self.text = text
    self.part = part.isFinite ? min(max(part, 0), 1) : 0
  }

  static let path = "/pinna/progress"

  package var message: OSCMessage { OSCMessage(Self.path, [.string(text), .float(Float(part))]) }

  /// - Parameter message: a message without its request number. Any other message than progress gives nil.
  package init?(_ message: OSCMessage) {
    guard message.path == Self.path, message.arguments.count == 2,
      case .string(let text) = message.arguments[0], case .float(let part) = message.arguments[1]
    else { return nil }
    self.init(text: text, part: Double(part))
  }
}
