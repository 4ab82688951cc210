import JackClient

/// A client without ports that does nothing in its callback but wait, as long as an engine works, and notes by how much
/// it was longer: what a machine adds, and less than that, since what holds it up while it waits shows only beyond the
/// wait's end. One that returned at once would hardly ever meet any of it.
public final class IdleClient: Sendable {
  private let connection: JackConnection

  private final class Work: Sendable {
    let wait: Int
    let times: CallbackTimes
    init(_ wait: Int, _ times: CallbackTimes) { (self.wait, self.times) = (wait, times) }

    /// The callback.
    func run() {
      let start = RealtimeCalls.nanoseconds()
      var waited = 0
      while waited < wait { waited = RealtimeCalls.nanoseconds() &- start }
      times.note(waited &- wait)
    }
  }

  /// - Parameters:
  ///   - wait: nanoseconds.
  ///   - times: nanoseconds beyond `wait`.
  public init(name: String, server: String?, wait: Int, times: CallbackTimes) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    let work = Work(wait, times)
    connection.setProcess(
      { _, context in
        Unmanaged<Work>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run() }
        return 0
      }, context: work)
    try connection.activate()
  }

  public var isServerGone: Bool { connection.isServerGone }

  /// False where it could not be closed: then no other client must be opened in this process.
  @discardableResult
  public func close() -> Bool { connection.close() }
}
