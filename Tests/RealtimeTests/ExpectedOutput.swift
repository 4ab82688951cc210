import Foundation
import Realtime
import TestSupport

/// What an output must be: signals that are known alone, and raised-cosine fades between them, one after another.
struct ExpectedOutput {
  /// Shape: `[signal][frame]`.
  let alone: [[Double]]
  private(set) var samples: [Double]
  private(set) var playing: Int
  /// The first frame after the last fade.
  private(set) var end = 0

  init(_ alone: [[Double]], playing: Int = 0) {
    self.alone = alone
    self.playing = playing
    samples = alone[playing]
  }

  mutating func fade(to signal: Int, at start: Int, over frames: Int) {
    precondition(start >= end)
    for n in start..<samples.count {
      let t = Double(n - start) + 0.5
      let weight = t > Double(frames) ? 1 : 0.5 - 0.5 * cos(Double.pi * t / Double(frames))
      samples[n] = (1 - weight) * alone[playing][n] + weight * alone[signal][n]
    }
    playing = signal
    end = start + frames
  }

  /// The largest error of `output`, as a part of the peak.
  func error(of output: some Collection<Float>) -> Double {
    let peak = samples.map(\.magnitude).max()!
    return zip(output, samples).map { abs(Double($0) - $1) }.max()! / peak
  }
}

extension FilterStream {
  /// Delivers filters of the shape `[output][microphone][tap]`.
  @discardableResult
  func deliver(feed: Int = 0, base: FilterSet, lineage: Int = 0, _ filters: [[[Float]]]) -> Bool {
    deliver(feed: feed, base: base, lineage: lineage, coefficients: filters.joined().flatMap { $0 })
  }

  /// Reads all frames that there are.
  /// - Returns: shape `[microphone][frame]`, and how many were lost before the first one.
  func readAll(atMost most: Int = 1 << 20) -> (frames: [[Float]], lost: Int) {
    let memory = (0..<microphones).map { _ in UnsafeMutablePointer<Float>.allocate(capacity: most) }
    defer { for block in memory { block.deallocate() } }
    let read = self.read(into: memory, atMost: most)
    return (memory.map { Array(UnsafeBufferPointer(start: $0, count: read.frames)) }, read.lost)
  }
}
