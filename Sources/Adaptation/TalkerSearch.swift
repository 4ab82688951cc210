import Acoustics
import FilterDesign
import Manifolds
import Realtime

/// Finds who speaks where in a recording: what a running Pinna does, without one.
///
/// Thread: one at a time.
public final class TalkerSearch {
  private let finder: DirectionFinder
  private let tracker: TalkerTracker
  private let muting: MicrophoneGuard
  /// Frames that come before what the search begins with.
  private var early: Int

  /// - Parameters:
  ///   - up: for the listener, in the device frame: talkers are near the horizon.
  ///   - clock: of the first frame: what is found depends on it in a running Pinna.
  /// - Throws: an `Unsupported` for an array that is too large; a `DesignError` if its responses cannot be had.
  public init(_ device: Device, up: Direction, sampleRate: Int, clock: Int = 0) throws {
    try AdaptiveModel.check(device)
    let array = ArrayTable(try AdaptiveModel.manifold(of: device), sampleRate: sampleRate)
    finder = DirectionFinder(array, up: up.vector)
    finder.findsAll = false
    tracker = TalkerTracker(finder, plane: device.hasHeight(along: up) ? nil : up.vector)
    tracker.begin(at: clock)
    muting = MicrophoneGuard(microphones: device.microphones.count, sampleRate: Double(sampleRate))
    let period = finder.framesPerUpdate
    early = (period - clock % period) % period
    finder.reset(at: clock + early)
  }

  /// Goes on by some frames, and returns who has begun, moved or ceased.
  /// - Parameter block: shape `[microphone][frame]`
  public func hear(_ block: [[Float]]) -> [TalkerChange] {
    // As a running Pinna does: the sums of what it heard before end in silence only then.
    flushDenormalsToZero()
    var block = block
    for m in block.indices {
      let rejected = block[m].count { !MicrophoneGuard.isValid($0) }
      guard rejected > 0 || muting.isMuted(m) else { continue }
      block[m].withUnsafeMutableBufferPointer {
        muting.apply(m, frames: $0.count, rejected: rejected, ring: $0.baseAddress!, start: 0, mask: .max)
      }
    }
    let hasMuted = block.indices.contains { muting.isMuted($0) }
    var position = min(early, block[0].count)
    early -= position
    while position < block[0].count {
      let end = min(block[0].count, position + finder.framesToHop)
      let step = finder.append(block, position..<end)
      tracker.take(hasMuted ? step.muted : step, of: finder)
      position = end
    }
    defer { tracker.changes = [] }
    return tracker.changes ?? []
  }
}
