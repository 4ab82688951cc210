import CJack
import Realtime
import Synchronization

/// A JACK client that records into memory, one input port per channel, from the moment it exists until its
/// memory is full.
public final class SignalRecorder: @unchecked Sendable {
  // Unchecked: the callback alone writes samples, below `filled`; readers stay below it too.

  private let connection: JackConnection
  private let ports: [PortHandle]
  public let portNames: [String]
  private let samples: [UnsafeMutablePointer<Float>]
  private let capacity: Int
  private let filled = Atomic<Int>(0)
  private let startTime = Atomic<Int>(-1)

  public init(name: String, server: String?, channels: Int, capacityFrames: Int) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    capacity = capacityFrames
    var handles: [PortHandle] = []
    for n in 0..<channels { handles.append(PortHandle(try connection.registerPort("in_\(n + 1)", .input))) }
    ports = handles
    portNames = (1...channels).map { "\(name):in_\($0)" }
    samples = (0..<channels).map { _ in
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: capacityFrames)
      memory.initialize(repeating: 0, count: capacityFrames)
      return memory
    }
    connection.setProcess(
      { frames, context in
        Unmanaged<SignalRecorder>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.process(Int(frames)) }
        return 0
      }, context: Unmanaged.passUnretained(self).toOpaque())
    try connection.activate()
  }

  deinit {
    connection.close()
    for memory in samples { memory.deallocate() }
  }

  public func connect(from sources: [String]) -> Bool {
    zip(sources, portNames).allSatisfy { connection.connect($0, $1) } && sources.count == portNames.count
  }

  public var frames: Int { filled.load(ordering: .acquiring) }
  /// Frame time of the first recorded frame.
  public var startFrame: UInt32? {
    let time = startTime.load(ordering: .acquiring)
    return time < 0 ? nil : UInt32(time)
  }

  /// Shape: `[channel][frame]`, `count` frames from the one at frame time `start`; silence where none came.
  public func channels(from start: UInt32, count: Int) -> [[Float]] {
    let available = frames
    let offset = startFrame.map { Int(Int32(bitPattern: start &- $0)) } ?? 0
    return samples.map { memory in
      (offset..<offset + count).map { (0..<available).contains($0) ? memory[$0] : 0 }
    }
  }

  private func process(_ count: Int) {
    let at = filled.load(ordering: .relaxed)
    if at == 0 { startTime.store(Int(RealtimeCalls.frameTime(connection.client)), ordering: .releasing) }
    let room = min(count, capacity - at)
    for channel in samples.indices {
      guard let buffer = RealtimeCalls.buffer(ports[channel].port, UInt32(count)) else { continue }
      for n in 0..<room { samples[channel][at + n] = buffer[n] }
    }
    filled.store(at + room, ordering: .releasing)
  }
}
