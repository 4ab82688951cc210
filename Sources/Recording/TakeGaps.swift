/// The engine's frames in a take: those of the take without the silence for frames that Pinna missed, because the engine
/// never saw these. Where the disk was late, the engine played on, and the silence counts.
package struct TakeGaps: Sendable {
  /// In the order of their frames.
  private let gaps: [Range<Int>]

  package init(_ sidecar: Sidecar) {
    let all = sidecar.gaps.filter { $0.cause != .disk && $0.frames > 0 }.map {
      $0.frame..<$0.frame + $0.frames
    }
    // A sidecar of somebody else may list some twice, or in any order.
    gaps = all.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { gaps, next in
      if let last = gaps.last, next.lowerBound <= last.upperBound {
        gaps[gaps.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
      } else {
        gaps.append(next)
      }
    }
  }

  /// The engine's frames before a frame of the take.
  package func engineFrames(before frame: Int) -> Int {
    gaps.prefix { $0.lowerBound < frame }.reduce(frame) { $0 - ($1.clamped(to: 0..<frame).count) }
  }

  /// Frames of the take without the gaps in them.
  /// - Parameters:
  ///   - block: shape `[channel][frame]`
  ///   - start: the block's first frame in the take.
  package func removed(from block: [[Float]], start: Int) -> [[Float]] {
    let count = block.first?.count ?? 0
    let within = gaps.map { $0.clamped(to: start..<start + count) }.filter { !$0.isEmpty }
    guard !within.isEmpty else { return block }
    return block.map { channel in
      var kept: [Float] = []
      var end = start
      for gap in within {
        kept += channel[end - start..<gap.lowerBound - start]
        end = gap.upperBound
      }
      return kept + channel[(end - start)...]
    }
  }

  /// Frames of the engine with silence in the gaps.
  /// - Parameters:
  ///   - block: shape `[channel][frame]`
  ///   - position: the frame of the take at which the block begins; advances by what is returned.
  ///   - end: of the file in the take, which no gap exceeds.
  package func filled(_ block: [[Float]], from position: inout Int, to end: Int) -> [[Float]] {
    var filled = [[Float]](repeating: [], count: block.count)
    var done = 0
    let count = block.first?.count ?? 0
    func silence(_ frames: Int) {
      for c in filled.indices { filled[c] += [Float](repeating: 0, count: frames) }
      position += frames
    }
    for gap in gaps where gap.upperBound > position && gap.lowerBound < end {
      let before = max(0, gap.lowerBound - position)
      // A gap at the block's end belongs to the next one, unless the file ends with it.
      guard before < count - done || before == count - done && gap.upperBound >= end else { break }
      for c in filled.indices { filled[c] += block[c][done..<done + before] }
      (done, position) = (done + before, position + before)
      silence(min(gap.upperBound, end) - position)
    }
    for c in filled.indices { filled[c] += block[c][done...] }
    position += count - done
    return filled
  }
}
