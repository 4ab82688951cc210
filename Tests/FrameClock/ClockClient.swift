import CJack
import Glibc
import JackClient
import LiveSupport
import Synchronization
import Threads

/// The client behind `FrameClock`: `frame-clock SERVER`. Orders and answers are texts; the first order is
/// "open".
@main
enum ClockClient {
  /// The state of the callback.
  struct Context: ~Copyable {
    let client: OpaquePointer
    let port: OpaquePointer
    var expected: UInt32?
    /// Spans of frame time that the server played without the clock, or in which the clock was late.
    let missed = UnsafeMutablePointer<(start: UInt32, frames: UInt32)>.allocate(capacity: mostMissed)
    let missedCount = Atomic<Int>(0)
    let played = Atomic<Int>(0)
    static let mostMissed = 65_536

    /// Runs on JACK's realtime thread.
    mutating func play(_ frames: UInt32) {
      let time = jack_last_frame_time(client)
      if let expected, time != expected { note(expected, time &- expected) }
      expected = time &+ frames
      let buffer = jack_port_get_buffer(port, frames)!.assumingMemoryBound(to: Float.self)
      for n in 0..<frames { buffer[Int(n)] = FrameClock.sample(time &+ n) }
      // An asynchronous server lets others read the port in the next period, before the clock writes it again.
      if jack_last_frame_time(client) != time || jack_frames_since_cycle_start(client) > frames / 2 {
        note(time, 2 &* frames)
      }
      played.wrappingAdd(Int(frames), ordering: .releasing)
    }

    /// JACK's realtime thread.
    private func note(_ start: UInt32, _ frames: UInt32) {
      let count = missedCount.load(ordering: .relaxed)
      guard count < Context.mostMissed else { return }
      missed[count] = (start, frames)
      missedCount.store(count + 1, ordering: .releasing)
    }
  }

  /// - Returns: 0, or libjack's status.
  static func open(_ server: String, _ context: UnsafeMutablePointer<Context>) -> UInt32 {
    var status = JackStatus(rawValue: 0)
    guard let client = pinna_jack_client_open("frame-clock", JackNoStartServer, &status, server) else {
      return status.rawValue
    }
    guard
      let port = jack_port_register(
        client, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0)
    else { return JackFailure.rawValue }
    // The clock often joins a server that has just started, as Pinna's probes leave it.
    StaleClients.flush(server: server)
    context.initialize(to: Context(client: client, port: port))
    jack_set_process_callback(
      client,
      {
        $1!.assumingMemoryBound(to: Context.self).pointee.play($0)
        return 0
      }, context)
    return jack_activate(client) == 0 ? 0 : JackFailure.rawValue
  }

  static func answer(_ words: [String], _ context: UnsafeMutablePointer<Context>) -> String {
    let client = context.pointee.client
    switch words[0] {
    case "connect":
      let fault = jack_connect(client, FrameClock.port, words[1])
      return fault == EEXIST ? "0" : "\(fault)"
    case "played": return "\(context.pointee.played.load(ordering: .acquiring))"
    case "missed" where words.count == 1:
      return "\(context.pointee.missedCount.load(ordering: .acquiring))"
    default:
      let span = context.pointee.missed[Int(words[1])!]
      return "\(span.start) \(span.frames)"
    }
  }

  static func main() {
    let context = UnsafeMutablePointer<Context>.allocate(capacity: 1)
    let status = open(CommandLine.arguments[1], context)
    HelperProcess.serve { order in
      let words = String(decoding: order, as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
      return Array((status != 0 || words == ["open"] ? "\(status)" : answer(words, context)).utf8)
    }
    // If libjack hangs here, the alarm ends the process.
    alarm(5)
    if status == 0 { jack_client_close(context.pointee.client) }
    _exit(0)
  }
}
