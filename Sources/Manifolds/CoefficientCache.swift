import Synchronization

/// Caches the coefficients for the most recently requested frequencies: a design requests the same ones for every case.
final class CoefficientCache: Sendable {
  struct Block: Sendable {
    let frequencies: Range<Int>
    /// Shape `[function][microphone][frequency](real, imaginary)`.
    let values: [Double]
  }

  private let last = Mutex<(frequencies: [Double], blocks: [Block])?>(nil)

  func coefficients(_ frequencies: [Double], _ compute: ([Double]) -> [Block]) -> [Block] {
    last.withLock { last in
      if let last, last.frequencies == frequencies { return last.blocks }
      let blocks = compute(frequencies)
      last = (frequencies, blocks)
      return blocks
    }
  }
}
