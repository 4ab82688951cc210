import JackClient

/// The destination of the outputs, and the connections that Pinna makes for it.
///
/// A value; the worker of `JackAudioClient` mutates it.
struct OutputRoute {
  var connections = OwnConnections()
  private var target: [String] = []

  /// Changes the target. Worker.
  /// - Returns: the connections to remove, and whether the target differs from the previous one.
  mutating func follow(_ target: [String]) -> (disconnect: [Wiring.Wire], isNew: Bool) {
    let pairs = target.count == 1 ? [target[0], target[0]] : target
    let wanted = pairs.enumerated().map { Wiring.Wire(ArrayClient.outputNames[$0 % 2], $1) }
    defer { self.target = target }
    return (connections.follow(wanted), target != self.target)
  }
}
