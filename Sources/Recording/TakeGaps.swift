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
    let span = start..<start + (block.first?.count ?? 0)
    let kept = sound(in: span)
    if kept == [span] { return block }
    return block.map { channel in kept.flatMap { channel[$0.lowerBound - start..<$0.upperBound - start] } }
  }

  /// Part of a rendered block as it lies in the take.
  package enum Run: Hashable {
    /// These frames of the block.
    case sound(Range<Int>)
    /// This many frames of silence.
    case gap(Int)
  }

  /// Splits a block of the engine's frames at the take's gaps.
  /// - Parameters:
  ///   - count: frames of the block.
  ///   - position: the frame of the take at which the block begins; advances by all runs, gaps included.
  ///   - end: of the file in the take, which no gap exceeds.
  package func runs(of count: Int, from position: inout Int, to end: Int) -> [Run] {
    var (runs, done): ([Run], Int) = ([], 0)
    for gap in gaps where gap.upperBound > position && gap.lowerBound < end {
      let before = max(0, gap.lowerBound - position)
      // A gap at the block's end belongs to the next one, unless the file ends with it.
      guard before < count - done || before == count - done && gap.upperBound >= end else { break }
      if before > 0 { runs.append(.sound(done..<done + before)) }
      done += before
      let stop = min(gap.upperBound, end)
      runs.append(.gap(stop - position - before))
      position = stop
    }
    if done < count { runs.append(.sound(done..<count)) }
    position += count - done
    return runs
  }

  /// The first frame of the take with `count` frames of the engine before it: the inverse of `engineFrames(before:)`.
  package func firstFrame(afterEngineFrames count: Int) -> Int {
    gaps.reduce(count) { $1.lowerBound < $0 ? $0 + $1.count : $0 }
  }

  /// The runs of a span of the take that are in no gap.
  package func sound(in span: Range<Int>) -> [Range<Int>] {
    var (sound, start): ([Range<Int>], Int) = ([], span.lowerBound)
    for gap in gaps.map({ $0.clamped(to: span) }) where !gap.isEmpty {
      if gap.lowerBound > start { sound.append(start..<gap.lowerBound) }
      start = gap.upperBound
    }
    return start < span.upperBound ? sound + [start..<span.upperBound] : sound
  }
}
