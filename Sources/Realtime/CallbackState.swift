/// The callback's state from one period to the next. It is trivial, so that copies count no references.
struct CallbackState: BitwiseCopyable {
  enum TakeState: BitwiseCopyable {
    case idle
    /// Accepted. It begins when all earlier changes have been applied.
    case armed(Ticket, Unmanaged<TakeRing>)
    case recording(Ticket, Unmanaged<TakeRing>)
  }

  var convolver: Unmanaged<Convolver>?
  /// The convolver missed input, and must be refilled from the history before it plays.
  var needsRefill = false
  /// What is heard. Nil, which is silence, until the first change.
  var current: FilterSetting?
  /// What the outputs fade to.
  var next: FilterSetting?
  /// `next` is not audible yet, because its tail is still being formed.
  var isFormingTail = false
  /// Frames of the fade to `next` played so far.
  var fadePosition = 0
  /// The newest change received during a fade.
  var pending: FilterSetting?
  var take = TakeState.idle
  /// Frames processed since the engine was created.
  var frame = 0
}
