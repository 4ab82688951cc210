/// What only the callback touches between two periods. Trivial, so that it is copied, never counted.
struct CallbackState: BitwiseCopyable {
  enum TakeState: BitwiseCopyable {
    case idle
    /// Accepted; begins when the changes before it have been applied.
    case armed(Ticket, Unmanaged<TakeRing>)
    case recording(Ticket, Unmanaged<TakeRing>)
  }

  var convolver: Unmanaged<Convolver>?
  /// The convolver has not seen all that the history holds, and must be refilled from it.
  var isBehind = false
  /// Nil until the first change: silence.
  var current: Sound?
  var next: Sound?
  /// `next` is not heard yet: its tail has to be formed first.
  var isGettingReady = false
  /// Frames of the fade to `next` that have been played.
  var fadePosition = 0
  /// The newest change that came during a fade.
  var waiting: Sound?
  var take = TakeState.idle
  /// Frames processed since the engine was made.
  var frame = 0
}
