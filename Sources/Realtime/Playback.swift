/// Plays a take on the outputs, in place of the microphones. It fades in, and fades out at the take's end or when
/// stopped.
struct Playback: ~Copyable, @unchecked Sendable {
  // Unchecked: only the callback uses it.

  private enum Phase: BitwiseCopyable { case rising, steady, falling }

  private struct ActivePlayback: BitwiseCopyable {
    let ticket: Ticket
    let ring: Unmanaged<PlaybackRing>
    var phase = Phase.rising
    /// Frames of the fade played so far.
    var fadePosition = 0
  }

  private let active: UnsafeMutablePointer<ActivePlayback?>
  /// The longest period. A property, because a stored static is initialised lazily, which may lock.
  private let capacity = Partitioning.longestPeriod
  private let left = AlignedMemory(count: Partitioning.longestPeriod)
  private let right = AlignedMemory(count: Partitioning.longestPeriod)

  /// Thread: control side.
  init() {
    active = .allocate(capacity: 1)
    active.initialize(to: nil)
  }

  deinit {
    active.deallocate()
    left.free()
    right.free()
  }

  // MARK: - Realtime thread

  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: false if another playback is active.
  @_noLocks @_noAllocation
  func begin(_ ticket: Ticket, _ ring: Unmanaged<PlaybackRing>) -> Bool {
    guard active.pointee == nil else { return false }
    active.pointee = ActivePlayback(ticket: ticket, ring: ring)
    return true
  }

  /// Starts the fade-out.
  ///
  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  func end(fade: Crossfade) {
    guard var current = active.pointee else { return }
    switch current.phase {
    case .falling: return
    // Continue at the present level: the fade-out is the fade-in reversed.
    case .rising: current.fadePosition = fade.frames &- current.fadePosition
    case .steady: current.fadePosition = 0
    }
    current.phase = .falling
    active.pointee = current
  }

  /// Whether the ring holds the next period. In freewheel, where there is no deadline, the caller waits for it.
  ///
  /// Thread: JACK's realtime thread (process callback).
  func isReady(frames: Int) -> Bool {
    active.pointee.map { $0.ring._withUnsafeGuaranteedRef { $0.isReady(frames: frames) } } ?? true
  }

  /// Replaces the outputs of `period` with the take, or crossfades between them at its start and end.
  ///
  /// Thread: JACK's realtime thread (process callback).
  /// - Returns: the ticket of a playback that ended in this period.
  @_noLocks @_noAllocation
  func mix(into period: borrowing Period, fade: Crossfade) -> Ticket? {
    let count = period.frames
    guard count <= capacity else { return nil }
    guard let ring = active.pointee?.ring else { return nil }
    let remaining = ring._withUnsafeGuaranteedRef { $0.framesLeft() }
    if remaining <= fade.frames &+ count { end(fade: fade) }
    guard var current = active.pointee else { return nil }
    let (takeLeft, takeRight) = (left.floats, right.floats)
    current.ring._withUnsafeGuaranteedRef { $0.read(left: takeLeft, right: takeRight, count: count) }
    let position = current.fadePosition
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
    current.fadePosition = position &+ count
    var isOver = false
    if current.fadePosition >= fade.frames {
      switch current.phase {
      case .rising: current.phase = .steady
      case .falling: isOver = true
      case .steady: break
      }
    }
    active.pointee = isOver ? nil : current
    return isOver ? current.ticket : nil
  }
}
