import CJack
import Foundation
import Synchronization

/// A JACK client that hears a signal which should repeat, frame by frame, and counts where it does not: hours of
/// sound in the memory of one loop.
public final class LoopListener: @unchecked Sendable {
  // Unchecked: the callback alone touches the loop; counts are atomics.
  private let client: OpaquePointer
  private let port: OpaquePointer
  private let loop: UnsafeMutablePointer<Float>
  private let length: Int
  private let listening = Atomic<Bool>(false)
  private let heard = Atomic<Int>(0)
  private let different = Atomic<Int>(0)
  private let notFinite = Atomic<Int>(0)

  /// - Parameter length: of a loop, in frames.
  public init(server: String, source: String, length: Int) throws {
    var status = JackStatus(rawValue: 0)
    guard let client = pinna_jack_client_open("loop-listener", JackNoStartServer, &status, server),
      let port = jack_port_register(client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    else { throw SupportError("the listener is not let in: status \(status.rawValue)") }
    self.client = client
    self.port = port
    self.length = length
    loop = .allocate(capacity: length)
    loop.initialize(repeating: 0, count: length)
    jack_set_process_callback(
      client,
      { frames, context in
        Unmanaged<LoopListener>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.hear(Int(frames)) }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    guard jack_activate(client) == 0, jack_connect(client, source, "loop-listener:in") == 0 else {
      throw SupportError("the listener cannot be connected to \(source)")
    }
  }

  deinit {
    jack_client_close(client)
    loop.deallocate()
  }

  /// From now on.
  public func listen() { listening.store(true, ordering: .releasing) }

  public var frames: Int { heard.load(ordering: .acquiring) }
  /// Frames that were not what they were a loop before.
  public var differentFrames: Int { different.load(ordering: .acquiring) }
  public var framesNotFinite: Int { notFinite.load(ordering: .acquiring) }

  private func hear(_ count: Int) {
    guard listening.load(ordering: .acquiring),
      let buffer = jack_port_get_buffer(port, UInt32(count))?.assumingMemoryBound(to: Float.self)
    else {
      return
    }
    let start = heard.load(ordering: .relaxed)
    for n in 0..<count {
      let sample = buffer[n]
      if !sample.isFinite { notFinite.wrappingAdd(1, ordering: .relaxed) }
      let at = start + n
      if at < length {
        loop[at] = sample
      } else if loop[at % length].bitPattern != sample.bitPattern {
        different.wrappingAdd(1, ordering: .relaxed)
      }
    }
    heard.store(start + count, ordering: .releasing)
  }
}
