import CJack
import JackClient
import Synchronization

/// A JACK client that records into memory. It has one input port per channel. Recording begins when the client is
/// activated, and ends when the memory is full.
///
/// Thread: any but JACK's own, except for `Memory.process`. Opening, connecting and closing wait for the server.
public final class SignalRecorder: Sendable {
  private let connection: JackConnection
  private let memory: Memory
  /// Full names of the input ports, one per channel.
  public let portNames: [String]

  /// The recorded samples, and the callback's state. It outlives the recorder if libjack hangs while closing.
  private final class Memory: @unchecked Sendable {
    // Unchecked: only the callback writes samples, beyond `filled`, and then raises `filled`; readers stay below it.
    let client: OpaquePointer
    let ports: [PortHandle]
    let samples: [UnsafeMutablePointer<Float>]
    let capacity: Int
    /// Frames recorded so far.
    let filled = Atomic<Int>(0)
    /// Where the frame time jumps, as after a period that the client missed: the frame recorded there, and its time. The
    /// first entry is the first frame. Published by `anchorCount`.
    let anchors = UnsafeMutablePointer<(frame: Int, time: UInt32)>.allocate(capacity: Memory.anchorCapacity)
    let anchorCount = Atomic<Int>(0)
    /// The callback's.
    private var nextTime: UInt32?
    private static let anchorCapacity = 4096

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

    deinit {
      for memory in samples { memory.deallocate() }
      anchors.deallocate()
    }

    /// The body of the process callback.
    ///
    /// Thread: JACK's realtime thread.
    func process(_ count: Int) {
      let at = filled.load(ordering: .relaxed)
      let time = RealtimeCalls.frameTime(client)
      let anchorIndex = anchorCount.load(ordering: .relaxed)
      if time != nextTime, anchorIndex < Self.anchorCapacity {
        anchors[anchorIndex] = (at, time)
        anchorCount.store(anchorIndex + 1, ordering: .releasing)
      }
      nextTime = time &+ UInt32(count)
      let room = min(count, capacity - at)
      for channel in samples.indices {
        guard let buffer = RealtimeCalls.buffer(ports[channel].port, UInt32(count)) else { continue }
        for n in 0..<room { samples[channel][at + n] = buffer[n] }
      }
      filled.store(at + room, ordering: .releasing)
    }
  }

  /// Opens and activates the client.
  /// - Parameters:
  ///   - server: nil for the default one.
  ///   - channels: number of input ports, named `in_1` and so on.
  ///   - capacityFrames: length of the recording.
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

  /// This client's connection, through which the graph can be queried.
  public var graph: JackConnection { connection }

  /// Connects `sources` to the ports, one per channel, in order.
  /// - Returns: whether there is a source for every port and all are connected.
  public func connect(from sources: [String]) -> Bool {
    zip(sources, portNames).allSatisfy { connection.connect($0, $1) } && sources.count == portNames.count
  }

  /// Frames recorded so far.
  public var frames: Int { memory.filled.load(ordering: .acquiring) }
  /// The recorded samples from frame time `start` on.
  /// - Returns: shape `[channel][frame]`, with `count` frames: one after the other as they were recorded, without what the
  ///   client missed, then silence.
  public func channels(from start: UInt32, count: Int) -> [[Float]] {
    func distance(_ time: UInt32) -> Int { Int(Int32(bitPattern: start &- time)) }
    let anchors = (0..<memory.anchorCount.load(ordering: .acquiring)).map { memory.anchors[$0] }
    let anchor = anchors.last { distance($0.time) >= 0 } ?? anchors.first
    return channels(at: anchor.map { $0.frame + distance($0.time) } ?? 0, count: count)
  }

  /// The recorded samples from the recording's frame `offset` on, as `channels(from:count:)`.
  public func channels(at offset: Int, count: Int) -> [[Float]] {
    let available = frames
    return memory.samples.map { memory in
      (offset..<offset + count).map { (0..<available).contains($0) ? memory[$0] : 0 }
    }
  }
}
