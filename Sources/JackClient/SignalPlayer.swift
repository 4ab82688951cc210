import CJack
import Realtime
import Synchronization

/// A JACK client that plays a signal from memory, one output port per channel, from the period after `start`;
/// once, or over and over.
public final class SignalPlayer: @unchecked Sendable {
  // Unchecked: ports and samples never change after init; position and start time are atomics.

  private let connection: JackConnection
  private let client: OpaquePointer
  public let portNames: [String]
  public let frames: Int
  private let channelCount: Int
  private let ports: UnsafeMutablePointer<OpaquePointer>
  private let samples: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let repeats: Bool
  private let position = Atomic<Int>(-1)
  private let startTime = Atomic<Int>(-1)

  /// - Parameters:
  ///   - channels: Shape `[channel][frame]`.
  ///   - microphones: names of ports that stand for microphones, from the first channel on; further ports are called
  ///     `out_1` and on, after their channels.
  public init(
    name: String, server: String?, channels: [[Float]], microphones: [String] = [], repeats: Bool = false
  ) throws(JackError) {
    connection = try JackConnection(name: name, server: server)
    client = connection.client
    frames = channels.first?.count ?? 0
    self.repeats = repeats
    var handles: [OpaquePointer] = []
    var names: [String] = []
    for n in channels.indices {
      names.append(n < microphones.count ? microphones[n] : "out_\(n + 1)")
      handles.append(try connection.registerPort(names[n], .output))
      if n < microphones.count {
        connection.label(handles[n], .microphone(names[n], group: name, order: n))
      }
    }
    portNames = names.map { "\(name):\($0)" }
    channelCount = channels.count
    ports = .allocate(capacity: max(1, channels.count))
    ports.initialize(from: handles, count: channels.count)
    samples = .allocate(capacity: max(1, channels.count))
    for (n, channel) in channels.enumerated() {
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, channel.count))
      memory.initialize(from: channel, count: channel.count)
      (samples + n).initialize(to: memory)
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
    for n in 0..<channelCount { samples[n].deallocate() }
    samples.deallocate()
    ports.deallocate()
  }

  /// Connects channel by channel to `destinations`; true where all of them are connected.
  public func connect(to destinations: [String]) -> Bool {
    zip(portNames, destinations).allSatisfy { connection.connect($0, $1) }
      && destinations.count == portNames.count
  }

  /// The graph that this client is in.
  public var graph: JackConnection { connection }

  public func start() { position.store(0, ordering: .releasing) }
  public var framesPlayed: Int { max(0, position.load(ordering: .acquiring)) }
  /// Everything has been played, at least once.
  public var isFinished: Bool { position.load(ordering: .acquiring) >= frames }
  /// Frame time of the first frame; nil before it has been played.
  public var startFrame: UInt32? {
    let time = startTime.load(ordering: .acquiring)
    return time < 0 ? nil : UInt32(time)
  }

  @_noLocks @_noAllocation
  private func process(_ count: Int) {
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
