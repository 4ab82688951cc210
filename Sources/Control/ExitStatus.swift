/// How a command ended, as programs see it.
public enum ExitStatus: Int32, CaseIterable, Sendable {
  case done = 0
  case failed = 1
  case usage = 2
  case noServer = 3
  case notRunning = 4
  case refused = 5
  case unsupported = 6
  case incompleteTake = 7

  /// For the manual.
  public var meaning: String {
    switch self {
    case .done: "done"
    case .failed: "failed; also a file or preset that does not exist"
    case .usage: "usage; also a word that Pinna does not know: the known ones are listed"
    case .noServer:
      "no JACK server, or it has gone; from `record stop`: the take had ended with it, and is complete"
    case .notRunning: "no running Pinna of that name"
    case .refused: "refused: a take is running, or a session controls the route"
    case .unsupported: "known, but not supported by this device, data source or orientation"
    case .incompleteTake: "a take is incomplete"
    }
  }
}

/// A request that did not end well: its exit status, and one sentence that names what to do.
public struct Failure: Error, Hashable, CustomStringConvertible {
  public let status: ExitStatus
  public let description: String
  /// Whether waiting does not help: somebody has to choose something else.
  package var isFinal = false

  public init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}
