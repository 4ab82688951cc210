import CJack
import JackClient
import Synchronization

/// A JACK client that records into memory, one input port per channel, from the moment it exists until its
/// memory is full.
public final class SignalRecorder: Sendable {
  private let connection: JackConnection
  private let memory: Memory
  public let portNames: [String]

  /// What the callback writes. It may outlive the recorder, where libjack does not come back from closing.
  private final class Memory: @unchecked Sendable {
    // Unchecked: the callback alone writes samples, below `filled`; readers stay below it too.
    let client: OpaquePointer
    let ports: [PortHandle]
    let samples: [UnsafeMutablePointer<Float>]
    let capacity: Int
    let filled = Atomic<Int>(0)
    let startTime = Atomic<Int>(-1)

    init(_ client: OpaquePointer, ports: [PortHandle], capacity: Int) {
      self.client = client
      self.ports = ports
      self.capacity = capacity
      samples = ports.map { _ in
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: capacity)
        memory.initialize(repeating: 0, count: capacity)
        return memory
      }
    }

    deinit { for memory in samples { memory.deallocate() } }

    /// JACK's realtime thread.
    func process(_ count: Int) {
      let at = filled.load(ordering: .relaxed)
      if at == 0 { startTime.store(Int(RealtimeCalls.frameTime(client)), ordering: .releasing) }
      let room = min(count, capacity - at)
      for channel in samples.indices {
        guard let buffer = RealtimeCalls.buffer(ports[channel].port, UInt32(count)) else { continue }
        for n in 0..<room { samples[channel][at + n] = buffer[n] }
      }
      filled.store(at + room, ordering: .releasing)
    }
  }

  public init(name: String, server: String?, channels: Int, capacityFrames: Int) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    var handles: [PortHandle] = []
    for n in 0..<channels { handles.append(PortHandle(try connection.registerPort("in_\(n + 1)", .input))) }
    portNames = (1...channels).map { "\(name):in_\($0)" }
    memory = Memory(connection.client, ports: handles, capacity: capacityFrames)
    connection.setProcess(
      { frames, context in
        Unmanaged<Memory>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.process(Int(frames)) }
        return 0
      }, context: memory)
    try connection.activate()
  }

  deinit { connection.close() }

  public func connect(from sources: [String]) -> Bool {
    zip(sources, portNames).allSatisfy { connection.connect($0, $1) } && sources.count == portNames.count
  }

  public var frames: Int { memory.filled.load(ordering: .acquiring) }
  /// Frame time of the first recorded frame.
  public var startFrame: UInt32? {
    let time = memory.startTime.load(ordering: .acquiring)
    return time < 0 ? nil : UInt32(time)
  }

  /// Shape: `[channel][frame]`, `count` frames from the one at frame time `start`; silence where none came.
  public func channels(from start: UInt32, count: Int) -> [[Float]] {
    let available = frames
    let offset = startFrame.map { Int(Int32(bitPattern: start &- $0)) } ?? 0
    return memory.samples.map { memory in
      (offset..<offset + count).map { (0..<available).contains($0) ? memory[$0] : 0 }
    }
  }
}
