/// A place in a take where time passed without recorded frames.
public struct TakeGap: Hashable, Sendable, BitwiseCopyable {
  public enum Cause: String, Sendable, BitwiseCopyable {
    /// Overrun: the disk was too slow, and the ring was full.
    case disk
    /// Pinna stalled while the server continued.
    case stall
    /// The server changed its period or sample rate, and left Pinna out meanwhile.
    case period
    /// Ports or connections of the graph changed, and the server left Pinna out meanwhile.
    case graph
    /// The server did not wait for Pinna in freewheel; or it went over to it or back, which of length 0 means that nobody
    /// knows how many frames are missing there.
    case freewheel
    /// The server stalled: there were no frames, so none are missing.
    case server
  }

  /// Frame at which it begins, counted from the first one that the callback wrote.
  public let start: Int
  /// Length in frames, which silence replaces.
  public let frames: Int
  public let cause: Cause
  /// Duration of the server's stall, beyond the time of its frames; of a stall of Pinna, when the server called it again,
  /// on the monotonic clock.
  public let microseconds: Int

  /// Whether Pinna seemed to stall, for known frames.
  var isCountedStall: Bool {
    @_noLocks @_noAllocation
    get { if case .stall = cause { frames > 0 } else { false } }
  }

  @_noLocks @_noAllocation
  func shorter(by count: Int) -> TakeGap {
    TakeGap(start: start, frames: frames &- count, cause: cause, microseconds: microseconds)
  }

  @_noLocks @_noAllocation
  func earlier(by count: Int) -> TakeGap {
    TakeGap(start: start &- count, frames: frames, cause: cause, microseconds: microseconds)
  }
}
