import CJack
import Foundation
import Synchronization

/// A JACK client that compares a repeating signal with its first loop and counts the differences: hours of
/// audio in the memory of one loop.
public final class LoopListener: @unchecked Sendable {
  // Unchecked: only the callback accesses the loop; the counts are atomics.
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

  /// Starts listening.
  public func listen() { listening.store(true, ordering: .releasing) }

  public var frames: Int { heard.load(ordering: .acquiring) }
  /// Frames that differ from the loop.
  public var differentFrames: Int { different.load(ordering: .acquiring) }
  public var framesNotFinite: Int { notFinite.load(ordering: .acquiring) }

  private func hear(_ count: Int) {
    guard listening.load(ordering: .acquiring),
      let buffer = jack_port_get_buffer(port, UInt32(count))?.assumingMemoryBound(to: Float.self)
    else {
      return
    }
    let start = heard.load(ordering: .relaxed)
    var done = 0
    while done < count {
      // Up to the end of the loop.
      let place = (start + done) % length
      let run = min(count - done, length - place)
      hear(buffer + done, run, at: place, isFirst: start + done < length)
      done += run
    }
    heard.store(start + count, ordering: .releasing)
  }

  private func hear(_ sound: UnsafePointer<Float>, _ count: Int, at place: Int, isFirst: Bool) {
    if isFirst {
      (loop + place).update(from: sound, count: count)
    } else if memcmp(loop + place, sound, count * MemoryLayout<Float>.stride) == 0 {
      return
    }
    let bad = (0..<count).count { !sound[$0].isFinite }
    let changed = (0..<count).count { loop[place + $0].bitPattern != sound[$0].bitPattern }
    notFinite.wrappingAdd(bad, ordering: .relaxed)
    different.wrappingAdd(changed, ordering: .relaxed)
  }
}
