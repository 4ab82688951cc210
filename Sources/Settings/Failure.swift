import Text

/// The exit status of a command.
public enum ExitStatus: Int32, CaseIterable, Sendable {
  case done = 0
  case failed = 1
  case usage = 2
  case noServer = 3
  case notRunning = 4
  case refused = 5
  case unsupported = 6
  case incompleteTake = 7

  /// The description in the manual.
  public var meaning: String {
    switch self {
    case .done: "done"
    case .failed: "failed; also a file or preset that does not exist"
    case .usage: "usage; also a word that Pinna does not know: the known ones are listed"
    case .noServer:
      "no JACK server, or it has gone; from `record stop`: the take had ended with it, or with its sample rate, and is complete"
    case .notRunning: "no running Pinna of that name"
    case .refused: "refused: a take is running, or a session controls the route"
    case .unsupported: "known, but not supported by this device, data source or orientation"
    case .incompleteTake: "a take is incomplete; from `--takes`: one failed"
    }
  }
}

/// A failed request: its exit status, and one printable sentence that says what happened and what to do.
public struct Failure: Error, Hashable, CustomStringConvertible {
  public let status: ExitStatus
  public let description: String
  /// Whether retrying cannot help, because the request itself must change.
  package var isFinal = false

  public init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description.sentence
  }

  /// What a refusal during a take advises. A view with a key for it says the key.
  package static let stopHint = "stop it with: pinna record stop"

  /// What becomes of a change when a newer one comes before its fade. Nothing to tell a user who made both.
  package static let superseded = "superseded by a newer change before it could begin; see: pinna status"
}
