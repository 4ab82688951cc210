/// A take in the outputs, in place of what the microphones give: fades in over them, and out again at its end or when
/// it is stopped. For the callback alone.
struct Playback: ~Copyable, @unchecked Sendable {
  // Unchecked: the callback alone touches it.

  private enum Phase: BitwiseCopyable { case rising, steady, falling }

  private struct Run: BitwiseCopyable {
    let ticket: Ticket
    let ring: Unmanaged<PlaybackRing>
    var phase = Phase.rising
    /// Frames of the fade that have been played.
    var position = 0
  }

  private let run: UnsafeMutablePointer<Run?>
  /// The longest period. A stored static would be initialised lazily, which the callback may not do.
  private let capacity = Partitioning.longestPeriod
  private let left = AlignedMemory(count: Partitioning.longestPeriod)
  private let right = AlignedMemory(count: Partitioning.longestPeriod)

  init() {
    run = .allocate(capacity: 1)
    run.initialize(to: nil)
  }

  deinit {
    run.deallocate()
    left.free()
    right.free()
  }

  /// False where another one plays.
  @_noLocks @_noAllocation
  func begin(_ ticket: Ticket, _ ring: Unmanaged<PlaybackRing>) -> Bool {
    guard run.pointee == nil else { return false }
    run.pointee = Run(ticket: ticket, ring: ring)
    return true
  }

  /// Fades out from here on.
  @_noLocks @_noAllocation
  func end(fade: Crossfade) {
    guard var current = run.pointee else { return }
    switch current.phase {
    case .falling: return
    // As loud as it is now: the fade down is the fade up backwards.
    case .rising: current.position = fade.frames &- current.position
    case .steady: current.position = 0
    }
    current.phase = .falling
    run.pointee = current
  }

  /// Whether the next period's frames are there; where there is no deadline they are waited for.
  func isReady(frames: Int) -> Bool {
    run.pointee.map { $0.ring._withUnsafeGuaranteedRef { $0.isReady(frames: frames) } } ?? true
  }

  /// Puts the take over `period`. Returns the ticket of one that has ended.
  @_noLocks @_noAllocation
  func mix(into period: borrowing Period, fade: Crossfade) -> Ticket? {
    let count = period.frames
    guard count <= capacity else { return nil }
    guard let ring = run.pointee?.ring else { return nil }
    let rest = ring._withUnsafeGuaranteedRef { $0.framesLeft() }
    if rest <= fade.frames &+ count { end(fade: fade) }
    guard var current = run.pointee else { return nil }
    let (takeLeft, takeRight) = (left.floats, right.floats)
    current.ring._withUnsafeGuaranteedRef { $0.read(left: takeLeft, right: takeRight, count: count) }
    let position = current.position
    switch current.phase {
    case .falling:
      fade.mix(period.left, gain: 1, with: takeLeft, gain: 1, position: position, count: count)
      fade.mix(period.right, gain: 1, with: takeRight, gain: 1, position: position, count: count)
    case .rising:
      fade.mix(takeLeft, gain: 1, with: period.left, gain: 1, position: position, count: count)
      fade.mix(takeRight, gain: 1, with: period.right, gain: 1, position: position, count: count)
      period.left.copy(from: takeLeft, count: count)
      period.right.copy(from: takeRight, count: count)
    case .steady:
      period.left.copy(from: takeLeft, count: count)
      period.right.copy(from: takeRight, count: count)
    }
    current.position = position &+ count
    var isOver = false
    if current.position >= fade.frames {
      switch current.phase {
      case .rising: current.phase = .steady
      case .falling: isOver = true
      case .steady: break
      }
    }
    run.pointee = isOver ? nil : current
    return isOver ? current.ticket : nil
  }
}
