import CRealtime
import Synchronization
import Threads

/// How filters that follow the sound reach the callback, which plays them in place of the linear ones that were chosen: the
/// *base*. A worker reads the microphones here, and delivers sets of filters for each feed (`FilterLane`).
///
/// Two threads use it without waiting for each other: the callback and the worker. The worker, and the control side that
/// prepares for another period or for another feed, share a lock.
public final class FilterStream: @unchecked Sendable {
  // Unchecked: the tap and the lanes pass what they hold from one thread to another, as they say.

  /// Length of the fade to a set in frames: two hops of the analysis, which has 64 to 256 frames.
  ///
  /// Thread: any.
  static func fadeFrames(sampleRate: Double) -> Int {
    sampleRate <= 50_000 ? 128 : sampleRate <= 100_000 ? 256 : 512
  }

  public let microphones: Int
  public let taps: Int
  private let tap: MicrophoneTap
  private let shared = Locked(Shared())
  private let beginning = Atomic<Int>(0)

  private struct Shared {
    /// By feed.
    var lanes: [Int: FilterLane] = [:]
    /// For each generation the convolver whose filters are transformed, by serial.
    var transforms: [FilterLane.Generation?] = [nil, nil]
    /// Convolvers in use whose layout has a tail.
    var withTail: Set<Int> = []
    /// Of feeds that have ended.
    var lateBefore = 0
  }

  /// Thread: control side.
  init(microphones: Int, taps: Int, sampleRate: Double) {
    self.microphones = microphones
    self.taps = taps
    tap = MicrophoneTap(
      microphones: microphones, capacity: MicrophoneTap.capacity(sampleRate: sampleRate))
  }

  // MARK: - Worker

  /// Lets the callback write microphones for `read`.
  ///
  /// Thread: worker.
  public func start() { tap.open() }

  /// Lets the callback write no more, and fade back to the base.
  ///
  /// Thread: worker.
  public func stop() {
    tap.close()
    for lane in shared.withLock({ Array($0.lanes.values) }) { lane.returnToBase() }
  }

  /// Reads the oldest frames of the microphones that have not been read, as the engine hears them: muted and faded.
  ///
  /// Thread: worker.
  /// - Parameter targets: one per microphone, each with room for `most` frames.
  /// - Returns: the frames read, how many were lost just before the first of them, because the worker was late, and the
  ///   engine's clock at that one.
  public func read(into targets: UnsafePointer<UnsafeMutablePointer<Float>>, atMost most: Int) -> (
    frames: Int, lost: Int, clock: Int
  ) {
    tap.read(into: targets, atMost: most)
  }

  /// What follows from this many more frames has been delivered. In freewheel, the callback waits for that.
  ///
  /// Thread: worker.
  public func finished(frames: Int) { tap.finish(frames: frames) }

  /// Transforms filters, and offers them to the callback in place of those that it has not taken up yet.
  ///
  /// Thread: worker.
  /// - Parameters:
  ///   - base: the linear filters that they stand for.
  ///   - lineage: of the setting that has this base. They are heard only while the base or the lineage is in force.
  ///   - coefficients: shape `[output][microphone][tap]`, with the outputs of the base.
  /// - Returns: false if `canAdapt` is, or there is no such feed.
  @discardableResult
  public func deliver(
    feed: Int = 0, base: FilterSet, lineage: Int = 0, coefficients: UnsafePointer<Float>
  ) -> Bool {
    precondition(base.microphones == microphones && base.taps == taps)
    return shared.withLock { shared in
      guard shared.withTail.isEmpty, let lane = shared.lanes[feed] else { return false }
      return lane.deliver(base: base, lineage: lineage, coefficients, shared.transforms)
    }
  }

  /// Lets the callback fade back to the base of a feed, until the next set is delivered.
  ///
  /// Thread: worker.
  public func returnToBase(feed: Int = 0) { shared.withLock { $0.lanes[feed] }?.returnToBase() }

  // MARK: - Any thread

  /// The clock of what `read` gives, at the engine's first frame: the server's.
  public var firstClock: Int { beginning.load(ordering: .relaxed) }

  /// Whether filters can follow the sound with periods in use: not where the convolver forms the tail of long filters
  /// ahead of time, which takes as long as they would be heard. That concerns filters of 32 periods or more.
  public var canAdapt: Bool { shared.withLock { $0.withTail.isEmpty } }

  /// Whether the callback plays filters on `main` that were delivered, or fades from or to such ones.
  public var isAdapted: Bool { isAdapted(feed: 0) }

  /// The same of any feed.
  public func isAdapted(feed: Int) -> Bool { shared.withLock { $0.lanes[feed] }?.isAdapted ?? false }

  /// Whether the callback writes microphones for the worker.
  public var isTapped: Bool { tap.isTapped }

  /// Whether the worker has finished with all periods so far, or does not read.
  public var isCaughtUp: Bool { tap.isCaughtUp }

  /// Frames of the microphones that were lost because the worker was late.
  public var lostFrames: Int { tap.lostFrames }

  /// How often the callback faded back to a base because nothing was delivered for 100 ms.
  var lateAdaptations: Int {
    shared.withLock { $0.lanes.values.reduce($0.lateBefore) { $0 + $1.lateAdaptations } }
  }

  /// Sets of filters for `main` that neither the callback nor the mailbox holds: for tests.
  package var freeSlots: Int { shared.withLock { $0.lanes[0] }?.freeSlots ?? 0 }

  // MARK: - Control side

  /// Makes the lane of a feed, before the callback knows that feed.
  ///
  /// Thread: control side.
  func addLane(feed: Int, outputs: Int) -> Unmanaged<FilterLane> {
    shared.withLock { shared in
      let lane = FilterLane(outputs: outputs, microphones: microphones, taps: taps)
      shared.lanes[feed] = lane
      return .passUnretained(lane)
    }
  }

  /// The callback no longer knows the feed.
  ///
  /// Thread: control side.
  func removeLane(feed: Int) {
    shared.withLock { shared in
      shared.lateBefore += shared.lanes.removeValue(forKey: feed)?.lateAdaptations ?? 0
    }
  }

  /// Prepares all sets for a convolver, before the callback knows it.
  ///
  /// Thread: control side.
  func prepare(_ convolver: Convolver) {
    shared.withLock { shared in
      let generation = convolver.generation
      if convolver.layout.blocks > 0 {
        shared.transforms[generation] = nil
        shared.withTail.insert(convolver.serial)
        return
      }
      let transform = FilterTransform(convolver.layout)
      shared.transforms[generation] = (convolver.serial, transform)
      // With those that the callback plays: it goes on with them in the new period.
      for lane in shared.lanes.values { lane.prepare(transform, generation: generation) }
    }
  }

  /// The callback no longer uses this convolver, or never will.
  ///
  /// Thread: control side.
  func forget(convolver serial: Int) {
    shared.withLock { shared in
      shared.withTail.remove(serial)
      for generation in 0..<2 where shared.transforms[generation]?.convolver == serial {
        shared.transforms[generation] = nil
      }
    }
  }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func begin(at clock: Int) { beginning.store(clock, ordering: .relaxed) }

  /// The microphones' ring buffer is written to only while somebody reads it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func append(_ frames: Int, of history: Unmanaged<InputHistory>) {
    guard tap.isTapped else { return }
    tap.append(frames, of: history._withUnsafeGuaranteedRef { UnsafePointer($0.storage) })
  }
}
