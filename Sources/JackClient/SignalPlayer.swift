import CJack
import Realtime
import Synchronization

/// A JACK client that plays a signal from memory, one output port per channel, from the period after `start`;
/// once, or over and over.
public final class SignalPlayer: @unchecked Sendable {
  // Unchecked: the samples never change after init; position and start time are atomics.

  private let connection: JackConnection
  private let ports: [PortHandle]
  private let portNames: [String]
  private let samples: [UnsafeMutablePointer<Float>]
  public let frames: Int
  private let repeats: Bool
  private let position = Atomic<Int>(-1)
  private let startTime = Atomic<Int>(-1)

  /// - Parameter channels: Shape `[channel][frame]`.
  public init(name: String, server: String?, channels: [[Float]], repeats: Bool = false) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    frames = channels.first?.count ?? 0
    self.repeats = repeats
    var handles: [PortHandle] = []
    for n in channels.indices {
      handles.append(PortHandle(try connection.registerPort("out_\(n + 1)", .output)))
    }
    ports = handles
    portNames = channels.indices.map { "\(name):out_\($0 + 1)" }
    samples = channels.map {
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, $0.count))
      memory.initialize(from: $0, count: $0.count)
      return memory
    }
    connection.setProcess(
      { frames, context in
        Unmanaged<SignalPlayer>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.process(Int(frames)) }
        return 0
      }, context: Unmanaged.passUnretained(self).toOpaque())
    try connection.activate()
  }

  deinit {
    connection.close()
    for memory in samples { memory.deallocate() }
  }

  /// Connects channel by channel to `destinations`; true where all of them are connected.
  public func connect(to destinations: [String]) -> Bool {
    zip(portNames, destinations).allSatisfy { connection.connect($0, $1) }
      && destinations.count == portNames.count
  }

  public func start() { position.store(0, ordering: .releasing) }
  public var framesPlayed: Int { max(0, position.load(ordering: .acquiring)) }
  /// Everything has been played, at least once.
  public var isFinished: Bool { position.load(ordering: .acquiring) >= frames }
  /// Frame time of the first frame; nil before it has been played.
  public var startFrame: UInt32? {
    let time = startTime.load(ordering: .acquiring)
    return time < 0 ? nil : UInt32(time)
  }

  private func process(_ count: Int) {
    let at = position.load(ordering: .acquiring)
    let left = at < 0 ? 0 : repeats ? count : max(0, min(count, frames - at))
    for channel in samples.indices {
      guard let buffer = RealtimeCalls.buffer(ports[channel].port, UInt32(count)) else { continue }
      for n in 0..<left { buffer[n] = samples[channel][(at + n) % frames] }
      for n in left..<count { buffer[n] = 0 }
    }
    guard at >= 0 else { return }
    if at == 0 { startTime.store(Int(RealtimeCalls.frameTime(connection.client)), ordering: .releasing) }
    position.store(at + left, ordering: .releasing)
  }
}
