/// One call of the process callback. It exists only inside that call.
public struct Period: ~Copyable {
  public let frames: Int
  /// One buffer per microphone, in channel order; nil is silence.
  public let inputs: UnsafePointer<UnsafePointer<Float>?>
  public let left: UnsafeMutablePointer<Float>
  public let right: UnsafeMutablePointer<Float>
  /// The outputs of all feeds but `main`, each at the place that its feed was given; nil where nothing listens. Nil if
  /// there is none.
  public let feeds: UnsafePointer<UnsafeMutablePointer<Float>?>?
  public let timing: Timing

  /// Thread: JACK's realtime thread (process callback).
  @_noLocks @_noAllocation
  public init(
    frames: Int, inputs: UnsafePointer<UnsafePointer<Float>?>, left: UnsafeMutablePointer<Float>,
    right: UnsafeMutablePointer<Float>, feeds: UnsafePointer<UnsafeMutablePointer<Float>?>? = nil,
    timing: Timing = Timing()
  ) {
    self.frames = frames
    self.inputs = inputs
    self.left = left
    self.right = right
    self.feeds = feeds
    self.timing = timing
  }
}
