import CJack
import Realtime
import Synchronization

/// An engine with the ports that it reads and writes, as the process callback uses them. Immutable; a change of device
/// makes a new one.
///
/// Thread: any, except for `process`.
final class ArrayPorts: @unchecked Sendable {
  // Unchecked: only the callback uses `buffers`; the rest never changes.

  let engine: Engine
  let names: [String]
  let microphones: [OpaquePointer]
  /// The ports of the feeds besides `main`. Their outputs are silent until the engine has those feeds.
  let feeds: [FeedPorts]
  private let callbackEngine: Unmanaged<Engine>
  private let count: Int
  private let ports: UnsafeMutablePointer<OpaquePointer>
  private let buffers: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let left: OpaquePointer
  private let right: OpaquePointer
  /// By place in `Period.feeds`; as many as the engine can have.
  private let feedPorts: UnsafeMutablePointer<OpaquePointer?>
  private let feedBuffers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// One past the last place with a port.
  private let feedPlaces: Int

  init(
    engine: Engine, names: [String], microphones: [OpaquePointer], left: OpaquePointer, right: OpaquePointer,
    feeds: [FeedPorts]
  ) {
    self.feeds = feeds
    feedPorts = .allocate(capacity: Engine.mostFeedOutputs)
    feedPorts.initialize(repeating: nil, count: Engine.mostFeedOutputs)
    feedBuffers = .allocate(capacity: Engine.mostFeedOutputs)
    feedBuffers.initialize(repeating: nil, count: Engine.mostFeedOutputs)
    for feed in feeds {
      for (n, port) in feed.ports.enumerated() { feedPorts[feed.firstOutput + n] = port.port }
    }
    feedPlaces = feeds.map(\.places.upperBound).max() ?? 0
    self.engine = engine
    self.names = names
    self.microphones = microphones
    callbackEngine = .passUnretained(engine)
    self.left = left
    self.right = right
    count = microphones.count
    ports = .allocate(capacity: count)
    ports.initialize(from: microphones, count: count)
    buffers = .allocate(capacity: count)
    buffers.initialize(repeating: nil, count: count)
  }

  deinit {
    ports.deallocate()
    buffers.deallocate()
    feedPorts.deallocate()
    feedBuffers.deallocate()
  }

  /// All of them but `main`'s and the control port, by short name.
  var named: [(name: String, port: OpaquePointer)] {
    Array(zip(names, microphones)) + feeds.flatMap { feed in zip(feed.names, feed.ports.map(\.port)) }
  }

  /// Thread: JACK's realtime thread.
  @_noLocks @_noAllocation
  func process(_ frames: UInt32, _ timing: Timing) {
    guard let leftBuffer = RealtimeCalls.buffer(left, frames),
      let rightBuffer = RealtimeCalls.buffer(right, frames)
    else { return }
    var n = 0
    while n < count {
      buffers[n] = UnsafePointer(RealtimeCalls.buffer(ports[n], frames))
      n &+= 1
    }
    n = 0
    while n < feedPlaces {
      feedBuffers[n] = feedPorts[n].map { RealtimeCalls.buffer($0, frames) } ?? nil
      feedBuffers[n]?.update(repeating: 0, count: Int(frames))
      n &+= 1
    }
    let buffers = UnsafePointer(buffers)
    let feeds = UnsafePointer(feedBuffers)
    callbackEngine._withUnsafeGuaranteedRef {
      $0.process(
        Period(
          frames: Int(frames), inputs: buffers, left: leftBuffer, right: rightBuffer, feeds: feeds,
          timing: timing))
    }
  }
}
