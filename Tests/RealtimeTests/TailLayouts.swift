import Realtime
import Testing

extension Engine {
  /// Makes this engine convolve old partitions in blocks of `block`, whatever is fastest. Call it before `prepare`.
  func useTail(block: Int, period: Int) throws {
    let layout: ConvolverLayout = try #require(layouts(period: period).first { $0.block == block })
    layoutOverride = layout
  }
}
