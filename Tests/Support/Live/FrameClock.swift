import CJack
import Foundation
import Synchronization

/// A JACK client that plays the server's frame time: a counter of 23 bits, which floats hold exactly. It repeats after
/// three minutes, so that every frame of a shorter take says which one it was.
public final class FrameClock {
  public static let port = "frame-clock:out"
  private let client: OpaquePointer
  private let context: UnsafeMutablePointer<Context>

  /// What the callback keeps.
  private struct Context: ~Copyable {
    let client: OpaquePointer
    let port: OpaquePointer
    var expected: UInt32?
    /// Spans of frame time that the server played without the clock.
    let missed: UnsafeMutablePointer<(start: UInt32, frames: UInt32)>
    var missedCount = 0
    let played = Atomic<Int>(0)
    static let mostMissed = 65_536
  }

  public init(server: String) throws {
    var status = JackStatus(rawValue: 0)
    guard let client = pinna_jack_client_open("frame-clock", JackNoStartServer, &status, server),
      let port = jack_port_register(
        client, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
    else { throw SupportError("the frame clock is not let in: status \(status.rawValue)") }
    self.client = client
    context = .allocate(capacity: 1)
    context.initialize(
      to: Context(client: client, port: port, missed: .allocate(capacity: Context.mostMissed)))
    jack_set_process_callback(
      client,
      { frames, context in
        let context = context!.assumingMemoryBound(to: Context.self)
        let time = jack_last_frame_time(context.pointee.client)
        if let expected = context.pointee.expected, time != expected,
          context.pointee.missedCount < Context.mostMissed
        {
          context.pointee.missed[context.pointee.missedCount] = (expected, time &- expected)
          context.pointee.missedCount += 1
        }
        context.pointee.expected = time &+ frames
        let buffer = jack_port_get_buffer(context.pointee.port, frames)!
          .assumingMemoryBound(to: Float.self)
        for n in 0..<frames { buffer[Int(n)] = FrameClock.sample(time &+ n) }
        context.pointee.played.wrappingAdd(Int(frames), ordering: .releasing)
        return 0
      }, context)
    guard jack_activate(client) == 0 else { throw SupportError("the frame clock cannot be activated") }
  }

  deinit {
    jack_client_close(client)
    context.pointee.missed.deallocate()
    context.deinitialize(count: 1)
    context.deallocate()
  }

  /// Spans of time, as the clock counts, that the server played without the clock: nobody knows what the clock's port
  /// held then. Ask when what is judged has been played.
  public var missed: [Range<Int>] {
    (0..<context.pointee.missedCount).map {
      let (start, frames) = context.pointee.missed[$0]
      return Int(start & 0x7F_FFFF)..<Int(start & 0x7F_FFFF) + Int(frames)
    }
  }

  /// Pinna may have connected it again already.
  public func connect(to microphone: String) throws {
    guard [0, EEXIST].contains(jack_connect(client, Self.port, microphone)) else {
      throw SupportError("the frame clock cannot be connected to \(microphone)")
    }
  }

  /// The server's frame time, as the clock counts.
  public var now: Int { Int(jack_frame_time(client)) & 0x7F_FFFF }

  private var played: Int { context.pointee.played.load(ordering: .acquiring) }

  /// Waits until it has played `frames` more. The server's frame time says less: while a period is late it runs ahead.
  public func wait(frames: Int) throws {
    let end = played + frames
    guard waitUntil(seconds: 60, { played >= end }) else {
      throw SupportError("the clock has played \(played) frames after 60 s, not \(end)")
    }
  }

  /// Never zero: that is silence.
  static func sample(_ time: UInt32) -> Float { (Float(time & 0x7F_FFFF) + 0.5) / 8_388_608 }

  /// The frame time that a sample stands for, modulo 2²³; nil for silence.
  public static func time(_ sample: Float) -> Int? { sample == 0 ? nil : Int(sample * 8_388_608) }
}
