import CJack
import JackClient
import Synchronization

/// A JACK client that plays a signal from memory, once or repeatedly. It has one output port per channel. Playback
/// begins with the first period after `start`.
///
/// Thread: any but JACK's own, except for `Signal.process`. Opening, connecting and closing wait for the server.
public final class SignalPlayer: Sendable {
  private let connection: JackConnection
  private let signal: Signal
  /// Full names of the output ports, one per channel.
  public let portNames: [String]
  /// Length of the signal.
  public var frames: Int { signal.frames }

  /// The signal, and the callback's state. It outlives the player if libjack hangs while closing.
  private final class Signal: @unchecked Sendable {
    // Unchecked: ports and samples never change after init; position and start time are atomics.
    let client: OpaquePointer
    let frames: Int
    let repeats: Bool
    let channelCount: Int
    let ports: UnsafeMutablePointer<OpaquePointer>
    let samples: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    /// Frames played so far, over all repetitions; -1 before `start`.
    let position = Atomic<Int>(-1)
    /// Frame time of the first frame; -1 before it has been played.
    let startTime = Atomic<Int>(-1)

    init(_ client: OpaquePointer, ports handles: [OpaquePointer], channels: [[Float]], repeats: Bool) {
      self.client = client
      self.repeats = repeats
      frames = channels.first?.count ?? 0
      channelCount = channels.count
      ports = .allocate(capacity: max(1, channels.count))
      ports.initialize(from: handles, count: channels.count)
      samples = .allocate(capacity: max(1, channels.count))
      for (n, channel) in channels.enumerated() {
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, channel.count))
        memory.initialize(from: channel, count: channel.count)
        (samples + n).initialize(to: memory)
      }
    }

    deinit {
      for n in 0..<channelCount { samples[n].deallocate() }
      samples.deallocate()
      ports.deallocate()
    }

    /// The body of the process callback.
    ///
    /// Thread: JACK's realtime thread.
    @_noLocks @_noAllocation
    func process(_ count: Int) {
      let at = position.load(ordering: .acquiring)
      var left = 0
      if at >= 0, frames > 0 {
        left = repeats ? count : frames &- at
        if left > count { left = count }
        if left < 0 { left = 0 }
      }
      var channel = 0
      while channel < channelCount {
        if let buffer = RealtimeCalls.buffer(ports[channel], UInt32(truncatingIfNeeded: count)) {
          let signal = samples[channel]
          var n = 0
          var place = left > 0 ? at % frames : 0
          while n < left {
            buffer[n] = signal[place]
            place &+= 1
            if place == frames { place = 0 }
            n &+= 1
          }
          while n < count {
            buffer[n] = 0
            n &+= 1
          }
        }
        channel &+= 1
      }
      guard at >= 0 else { return }
      if at == 0 {
        startTime.store(
          Int(truncatingIfNeeded: RealtimeCalls.frameTime(client)), ordering: .releasing)
      }
      position.store(at &+ left, ordering: .releasing)
    }
  }

  /// Opens and activates the client. It plays silence until `start`.
  /// - Parameters:
  ///   - server: nil for the default one.
  ///   - channels: shape `[channel][frame]`.
  ///   - microphones: names of the first ports. The port of any further channel n, counted from 1, is named `out_n`.
  ///   - repeats: whether to start again at the end of the signal.
  ///   - isSimulated: marks the ports for `isSimulated(_:in:)`.
  public init(
    name: String, server: String?, channels: [[Float]], microphones: [String] = [], repeats: Bool = false,
    isSimulated: Bool = false
  ) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    var handles: [OpaquePointer] = []
    var names: [String] = []
    for n in channels.indices {
      names.append(n < microphones.count ? microphones[n] : "out_\(n + 1)")
      handles.append(try connection.registerPort(names[n], .output))
    }
    portNames = names.map { "\(name):\($0)" }
    if isSimulated {
      for (handle, name) in zip(handles, names) {
        connection.setAlias("\(Self.simulated):\(name)", of: handle)
      }
    }
    signal = Signal(connection.client, ports: handles, channels: channels, repeats: repeats)
    connection.setProcess(
      { frames, context in
        Unmanaged<Signal>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.process(Int(frames)) }
        return 0
      }, context: signal)
    try connection.activate()
  }

  deinit { connection.close() }

  /// The client in the alias of ports that play a simulated scene.
  private static let simulated = "pinna-simulated"

  /// Whether a port of any client plays a simulated scene. Never waits.
  public static func isSimulated(_ port: String, in graph: JackConnection) -> Bool {
    graph.aliases(of: port).contains { $0.hasPrefix(simulated + ":") }
  }

  /// Connects the ports to `destinations`, one per channel, in order.
  /// - Returns: whether there is a destination for every port and all are connected.
  public func connect(to destinations: [String]) -> Bool {
    zip(portNames, destinations).allSatisfy { connection.connect($0, $1) }
      && destinations.count == portNames.count
  }

  /// This client's connection, through which the graph can be queried.
  public var graph: JackConnection { connection }

  /// Starts playback at the first frame.
  public func start() { signal.position.store(0, ordering: .releasing) }
  /// Frames played so far, over all repetitions; 0 before `start`.
  public var framesPlayed: Int { max(0, signal.position.load(ordering: .acquiring)) }
  /// Whether the whole signal has been played at least once.
  public var isFinished: Bool { signal.position.load(ordering: .acquiring) >= frames }
  /// Frame time of the first frame; nil before it has been played.
  public var startFrame: UInt32? {
    let time = signal.startTime.load(ordering: .acquiring)
    return time < 0 ? nil : UInt32(time)
  }
}
