import Glibc
import Processor
import Threads

/// Keeps the machine from sleeping, by the closed lid, too: a child `systemd-inhibit` holds an inhibitor of logind's as
/// long as its own child reads from us. It ends with this process, however that ends.
///
/// Thread: control thread. The child is started on a thread of its own, because its file may be on a disk that hangs.
package final class LogindInhibitor: SleepInhibitor, Sendable {
  private struct State {
    /// The pipe that the child reads from.
    var pipe: PipeEnds?
    var isReleased = false
    var fault: String?
  }

  private static let program = "systemd-inhibit"
  private let state = Locked(State())

  /// - Parameter name: of the Pinna that records, for those who ask logind what keeps the machine awake.
  package init(name: String) {
    do {
      try BackgroundThread.start("pinna awake") { [state] in Self.hold(state, name: name) }
    } catch { state.withLock { $0.fault = "\(error)" } }
  }

  deinit { release() }

  package var fault: String? { state.withLock { $0.fault } }

  package func release() {
    state.withLock { state in
      state.isReleased = true
      state.pipe?.closeWriting()
    }
  }

  /// Waits for the child's end. Thread: the inhibitor's own.
  private static func hold(_ state: Locked<State>, name: String) {
    func fail(_ reason: String) { state.withLock { if !$0.isReleased { $0.fault = reason } } }
    guard let path = ChildProcess.path(ofProgram: program) else {
      return fail("\(program) is not installed")
    }
    guard let input = PipeEnds(), let errors = PipeEnds() else {
      return fail("\(program) cannot be started: \(String(cString: strerror(errno)))")
    }
    let isWanted = state.withLock { state in
      if !state.isReleased { state.pipe = input }
      return !state.isReleased
    }
    guard isWanted else { return }
    let child: ChildProcess
    do throws(NoProcess) {
      child = try ChildProcess(
        path,
        [
          "--what=sleep:idle:handle-lid-switch", "--mode=block", "--who=Pinna",
          "--why=\(name) records a take",
          "cat",
        ], input: input.reading, errors: errors.writing)
    } catch { return fail(error.description) }
    errors.closeWriting()
    let said = Descriptor.readAll(errors.reading, limit: 1 << 12) ?? []
    // A child whose errors are not read would wait for ever.
    var rest = [UInt8](repeating: 0, count: 4096)
    while read(errors.reading, &rest, rest.count) > 0 {}
    child.waitUntilExit()
    let text = String(decoding: said, as: UTF8.self).split(separator: "\n").first.map { ": " + $0 } ?? ""
    fail("\(program) ended\(text)")
  }
}
