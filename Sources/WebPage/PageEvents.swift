import CMicrohttpd
import Dispatch
import Messages
import Threads

/// What pages are shown: the newest answers of Pinna, and the event streams that send them.
///
/// A stream holds one frame at a time, and composes the next from the newest answers once the browser has taken it. A slow
/// page does not get what was replaced meanwhile; nothing queues.
///
/// Thread: any.
final class PageEvents: Sendable {
  static let mostStreams = 16

  /// The newest answer to one method, and how many came before it.
  private struct Newest {
    var number = 0
    var text = ""

    mutating func replace(_ text: String) {
      number += 1
      self.text = text
    }
  }

  private struct State {
    var status = JSONFields()
    var levels = Newest()
    var outputs = Newest()
    /// Why Pinna does not answer; nil while it does.
    var absence: String?
    var streams: [ObjectIdentifier: EventStream] = [:]
  }

  private let state = Locked(State())
  /// Counts the streams that were opened.
  private let opened = DispatchSemaphore(value: 0)

  var hasStreams: Bool { state.withLock { !$0.streams.isEmpty } }

  /// - Returns: nil if there are `mostStreams` already.
  func open(_ connection: OpaquePointer) -> EventStream? {
    state.withLock { state in
      guard state.streams.count < Self.mostStreams else { return nil }
      let stream = EventStream(connection)
      state.streams[ObjectIdentifier(stream)] = stream
      opened.signal()
      return stream
    }
  }

  /// Returns once for each stream that is opened.
  func waitForStream() { opened.wait() }

  func close(_ stream: EventStream) {
    state.withLock { _ = $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
  }

  func setStatus(_ fields: JSONFields) {
    publish {
      $0.absence = nil
      $0.status = fields
    }
  }

  func setLevels(_ text: String) { publish { $0.levels.replace(text) } }
  func setOutputs(_ text: String) { publish { $0.outputs.replace(text) } }
  func setAbsence(_ reason: String) { publish { $0.absence = reason } }

  /// Drops the last status. Call it while no page is open, because nobody asks for a new one.
  func forget() { state.withLock { $0.status = JSONFields() } }

  private func publish(_ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      for stream in state.streams.values { stream.resume() }
    }
  }

  /// Copies the next bytes of `stream` to `buffer`. If there are none, suspends the connection until something changes.
  ///
  /// Thread: the server's.
  func read(_ stream: EventStream, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLock { state in
      if stream.isDrained { stream.load(Self.frame(&stream.sent, state)) }
      guard !stream.isDrained else {
        stream.suspend()
        return 0
      }
      return stream.copy(into: buffer)
    }
  }

  /// The events that bring a page from `sent` to `state`.
  private static func frame(_ sent: inout EventStream.Sent, _ state: State) -> String {
    var frame = ""
    func add(_ event: String, _ data: String) { frame += "event: \(event)\ndata: \(data)\n\n" }
    if state.absence != sent.absence {
      if let reason = state.absence {
        add("absent", json(reason))
      } else {
        // The whole status says that Pinna answers again, even if nothing has changed.
        sent.status = JSONFields()
      }
      sent.absence = state.absence
    }
    if state.absence == nil, let changes = state.status.changes(since: sent.status) {
      add("status", changes)
      sent.status = state.status
    }
    if state.levels.number != sent.levels {
      add("levels", state.levels.text)
      sent.levels = state.levels.number
    }
    if state.outputs.number != sent.outputs {
      add("outputs", state.outputs.text)
      sent.outputs = state.outputs.number
    }
    return frame
  }
}

/// One page's stream of events. Used only under the lock of its `PageEvents`.
final class EventStream: @unchecked Sendable {
  /// What the page has been sent.
  struct Sent {
    var status = JSONFields()
    var levels = 0
    var outputs = 0
    var absence: String?
  }

  private let connection: OpaquePointer
  var sent = Sent()
  private var bytes: [UInt8] = []
  private var offset = 0
  private var isSuspended = false

  init(_ connection: OpaquePointer) { self.connection = connection }

  var isDrained: Bool { offset == bytes.count }

  func load(_ text: String) {
    bytes = Array(text.utf8)
    offset = 0
  }

  func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, bytes.count - offset)
    buffer.copyBytes(from: bytes[offset..<offset + count])
    offset += count
    return count
  }

  func suspend() {
    isSuspended = true
    MHD_suspend_connection(connection)
  }

  func resume() {
    guard isSuspended else { return }
    isSuspended = false
    MHD_resume_connection(connection)
  }
}
