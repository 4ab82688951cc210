/// The buffers of two outputs of a feed, which one pair of filters computes.
struct OutputPair: BitwiseCopyable {
  let left: UnsafeMutablePointer<Float>
  let right: UnsafeMutablePointer<Float>

  /// Thread: any.
  @_noLocks @_noAllocation
  init(_ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>) {
    self.left = left
    self.right = right
  }
}
