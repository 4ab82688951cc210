import CJack
import Foundation

/// A JACK client that plays the server's frame time: a counter of 23 bits, which floats hold exactly. It repeats after
/// three minutes, so that every frame of a shorter take says which one it was.
public final class FrameClock {
  public static let port = "frame-clock:out"
  private let client: OpaquePointer
  private let context: UnsafeMutablePointer<(OpaquePointer, OpaquePointer)>

  public init(server: String) throws {
    var status = JackStatus(rawValue: 0)
    guard let client = pinna_jack_client_open("frame-clock", JackNoStartServer, &status, server),
      let port = jack_port_register(
        client, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
    else { throw SupportError("the frame clock is not let in: status \(status.rawValue)") }
    self.client = client
    context = .allocate(capacity: 1)
    context.initialize(to: (client, port))
    jack_set_process_callback(
      client,
      { frames, context in
        let (client, port) = context!.assumingMemoryBound(to: (OpaquePointer, OpaquePointer).self).pointee
        let time = jack_last_frame_time(client)
        let buffer = jack_port_get_buffer(port, frames)!.assumingMemoryBound(to: Float.self)
        for n in 0..<frames { buffer[Int(n)] = FrameClock.sample(time &+ n) }
        return 0
      }, context)
    guard jack_activate(client) == 0 else { throw SupportError("the frame clock cannot be activated") }
  }

  deinit {
    jack_client_close(client)
    context.deallocate()
  }

  public func connect(to microphone: String) throws {
    guard jack_connect(client, Self.port, microphone) == 0 else {
      throw SupportError("the frame clock cannot be connected to \(microphone)")
    }
  }

  /// The server's frame time, as the clock counts.
  public var now: Int { Int(jack_frame_time(client)) & 0x7F_FFFF }

  /// Never zero: that is silence.
  static func sample(_ time: UInt32) -> Float { (Float(time & 0x7F_FFFF) + 0.5) / 8_388_608 }

  /// The frame time that a sample stands for, modulo 2²³; nil for silence.
  public static func time(_ sample: Float) -> Int? { sample == 0 ? nil : Int(sample * 8_388_608) }
}
