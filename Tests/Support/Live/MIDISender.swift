import CJack
import JackClient
import Synchronization

/// A JACK client with a MIDI output, such as a keyboard: it sends one message at a time.
public final class MIDISender: Sendable {
  private let connection: JackConnection
  private let state: State
  /// Full name of its port.
  public let portName: String

  private final class State: @unchecked Sendable {
    // Unchecked: client and port never change; the rest is atomic.
    let client: OpaquePointer
    let port: OpaquePointer
    /// The message to send, as status | data << 8 | data << 16 | offset within the period << 32; 0 for none.
    let next = Atomic<UInt64>(0)
    /// Frame time at which the last message was sent; -1 before.
    let sentAt = Atomic<Int>(-1)

    init(_ client: OpaquePointer, _ port: OpaquePointer) { (self.client, self.port) = (client, port) }

    /// Thread: JACK's realtime thread.
    func process(_ frames: UInt32) {
      guard let buffer = jack_port_get_buffer(port, frames) else { return }
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
      sentAt.store(Int(jack_last_frame_time(client)) + Int(offset), ordering: .releasing)
    }
  }

  /// Opens and activates the client.
  /// - Parameter destination: the port to connect to.
  public init(name: String = "keys", server: String, to destination: String = "pinna:control") throws {
    connection = try JackConnection(name: name, server: server)
    let port = try connection.registerPort("out", .output, type: .midi)
    portName = "\(name):out"
    state = State(connection.client, port)
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
  /// - Returns: the frame time at which it was sent; nil if no period runs.
  @discardableResult
  public func program(_ program: Int, channel: Int = 1, offset: Int = 0) -> UInt32? {
    send(status: 0xC0 | channel - 1, program, 0, offset)
  }

  /// Sends a control change, and waits until it is sent.
  @discardableResult
  public func control(_ controller: Int, _ value: Int, channel: Int = 1) -> UInt32? {
    send(status: 0xB0 | channel - 1, controller, value, 0)
  }

  private func send(status: Int, _ first: Int, _ second: Int, _ offset: Int) -> UInt32? {
    state.sentAt.store(-1, ordering: .releasing)
    state.next.store(
      UInt64(status) | UInt64(first) << 8 | UInt64(second) << 16 | UInt64(offset) << 32, ordering: .releasing)
    guard waitUntil(seconds: 5, { state.sentAt.load(ordering: .acquiring) >= 0 }) else { return nil }
    return UInt32(truncatingIfNeeded: state.sentAt.load(ordering: .acquiring))
  }
}
