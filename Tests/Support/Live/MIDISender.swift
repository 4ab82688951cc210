import CJack
import JackClient
import Synchronization

/// A JACK client with a MIDI output, such as a keyboard: it sends one message at a time, and marks its frame with a
/// sample of 1 at an audio output.
public final class MIDISender: Sendable {
  private let connection: JackConnection
  private let state: State
  /// Full name of its MIDI port.
  public let portName: String
  /// Full name of the port with the marks.
  public let markName: String

  private final class State: @unchecked Sendable {
    // Unchecked: the ports never change; the rest is atomic.
    let port: OpaquePointer
    let mark: OpaquePointer
    /// The message to send, as status | data << 8 | data << 16 | offset within the period << 32; 0 for none.
    let next = Atomic<UInt64>(0)
    let isSent = Atomic<Bool>(false)

    init(_ port: OpaquePointer, mark: OpaquePointer) { (self.port, self.mark) = (port, mark) }

    /// Thread: JACK's realtime thread.
    func process(_ frames: UInt32) {
      guard let buffer = jack_port_get_buffer(port, frames),
        let marks = RealtimeCalls.buffer(mark, frames)
      else { return }
      marks.update(repeating: 0, count: Int(frames))
      jack_midi_clear_buffer(buffer)
      let message = next.exchange(0, ordering: .acquiringAndReleasing)
      guard message != 0 else { return }
      let status = UInt8(message & 0xFF)
      let size = status & 0xF0 == 0xC0 ? 2 : 3
      let offset = min(frames - 1, UInt32(message >> 32))
      guard let data = jack_midi_event_reserve(buffer, offset, size) else { return }
      data[0] = status
      data[1] = UInt8(message >> 8 & 0x7F)
      if size == 3 { data[2] = UInt8(message >> 16 & 0x7F) }
      marks[Int(offset)] = 1
      isSent.store(true, ordering: .releasing)
    }
  }

  /// Opens and activates the client.
  /// - Parameter destination: the port to connect to.
  public init(name: String = "keys", server: String, to destination: String = "pinna:control") throws {
    connection = try JackConnection(name: name, server: server)
    let port = try connection.registerPort("out", .output, type: .midi)
    portName = "\(name):out"
    markName = "\(name):mark"
    state = State(port, mark: try connection.registerPort("mark", .output))
    connection.setProcess(
      { frames, context in
        Unmanaged<State>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.process(frames) }
        return 0
      }, context: state)
    try connection.activate()
    guard connection.connect(portName, destination) else {
      throw SupportError("\(portName) cannot be connected to \(destination)")
    }
  }

  deinit { connection.close() }

  /// Sends a program change, and waits until it is sent.
  /// - Parameters:
  ///   - program: from 0, as on the wire.
  ///   - offset: frame within the period.
  /// - Returns: false if no period runs.
  @discardableResult
  public func program(_ program: Int, channel: Int = 1, offset: Int = 0) -> Bool {
    send(status: 0xC0 | channel - 1, program, 0, offset)
  }

  private func send(status: Int, _ first: Int, _ second: Int, _ offset: Int) -> Bool {
    state.isSent.store(false, ordering: .releasing)
    state.next.store(
      UInt64(status) | UInt64(first) << 8 | UInt64(second) << 16 | UInt64(offset) << 32, ordering: .releasing)
    return waitUntil(seconds: 5) { state.isSent.load(ordering: .acquiring) }
  }
}
