/// How a command ended, as programs see it.
public enum ExitStatus: Int32, Sendable {
  case done = 0
  case failed = 1
  case usage = 2
  case noServer = 3
  case notRunning = 4
  case refused = 5
  case unsupported = 6
  case incompleteTake = 7
}

/// A request that did not end well: its exit status, and one sentence that names what to do.
public struct Failure: Error, Hashable, CustomStringConvertible {
  public let status: ExitStatus
  public let description: String

  public init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}
