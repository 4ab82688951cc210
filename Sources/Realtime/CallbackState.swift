/// The callback's state from one period to the next. It is trivial, so that copies count no references.
struct CallbackState: BitwiseCopyable {
  enum TakeState: BitwiseCopyable {
    case idle
    /// Accepted. It begins when all earlier changes have been applied, or with the transport.
    case armed(Ticket, Unmanaged<TakeRing>)
    case recording(Ticket, Unmanaged<TakeRing>)
  }

  /// The one prepared for the current period; nil before the first.
  var convolver: Unmanaged<Convolver>?
  /// Receives the microphones. While the convolver is not up to date, this is the history of the one before it.
  var live: Unmanaged<InputHistory>
  /// The serial of the replaced convolver that `live` belongs to; nil if there is none.
  var replacedConvolver: Int?
  /// One past the last feed that exists.
  var feedsEnd = 1
  /// Metered channels: microphones, left and right, then the outputs of other feeds as far as any is used.
  var meteredChannels: Int
  var take = TakeState.idle
  /// Whether the take begins and ends with the transport.
  var takeFollowsTransport = false
  /// Whether the armed take waits for nothing but the transport, and this has been reported.
  var isTakeArmed = false
  /// The transport frame expected at the start of the next period.
  var nextTransportFrame = 0
  /// Whether the microphones' samples have been muted and faded already.
  var takesInputsAsTheyAre = false
  /// `Engine.keep`; nil if there are none.
  var residents: UnsafeMutablePointer<Unmanaged<FilterSet>>?
  /// Changes to them so far.
  var residentChanges: UInt64 = 0
  /// Whether the server has left the engine's sample rate.
  var isRetired = false
  /// Frames of the fade-out of a retired engine played so far.
  var retiredFrames = 0
  /// Frames processed since the engine was created.
  var frame = 0

  /// Thread: control side.
  init(live: InputHistory, meteredChannels: Int) {
    self.live = .passUnretained(live)
    self.meteredChannels = meteredChannels
  }
}
