import JackClient

/// A JACK client without ports. Its callback spins for as long as an engine would work, and records how much longer it
/// took.
///
/// The excess is delay that the machine causes, for example by interrupts. It is a lower bound: a delay during the wait
/// counts only as far as it exceeds the rest of the wait. A callback that returned at once would hardly ever be
/// delayed.
///
/// Thread: any but JACK's own, except for `Work.run`.
final class IdleClient: Sendable {
  private let connection: JackConnection

  private final class Work: Sendable {
    let wait: Int
    let times: CallbackTimes
    init(_ wait: Int, _ times: CallbackTimes) { (self.wait, self.times) = (wait, times) }

    /// The body of the process callback.
    ///
    /// Thread: JACK's realtime thread.
    func run() {
      let start = RealtimeCalls.nanoseconds()
      var waited = 0
      while waited < wait { waited = RealtimeCalls.nanoseconds() &- start }
      times.note(waited &- wait)
    }
  }

  /// Opens and activates the client. Waits for the server.
  /// - Parameters:
  ///   - server: nil for the default one.
  ///   - wait: how long each callback spins, in nanoseconds.
  ///   - times: receives the time by which each callback exceeds `wait`, in nanoseconds.
  init(name: String, server: String?, wait: Int, times: CallbackTimes) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    let work = Work(wait, times)
    connection.setProcess(
      { _, context in
        Unmanaged<Work>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run() }
        return 0
      }, context: work)
    try connection.activate()
  }

  var isServerGone: Bool { connection.isServerGone }

  /// Closes the client. Waits for 2 s at most.
  /// - Returns: false if it is not closed in time; then no client of another server may be opened in this process.
  @discardableResult
  func close() -> Bool { connection.close() }
}
