/// Lets sound pass in some spans of time, and a little before and after.
final class SoundGate {
  /// In order, apart from each other.
  private var spans: [Range<Int>] = []
  private let fade: Int
  private var position: Int

  /// Seconds that pass around each span, and in which sound comes and goes.
  private static let (margin, fadeTime) = (0.25, 0.02)

  /// - Parameter times: in seconds.
  init(_ times: [(begin: Double, end: Double)], from frame: Int, sampleRate: Int) {
    position = frame
    let rate = Double(sampleRate)
    fade = Int(Self.fadeTime * rate)
    for time in times.sorted(by: { $0.begin < $1.begin }) {
      let span = Int((time.begin - Self.margin) * rate)..<Int((time.end + Self.margin) * rate)
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
  }

  /// - Parameter channels: the next frames, `[channel][frame]`.
  func pass(_ channels: [[Float]]) -> [[Float]] {
    let range = position..<position + (channels.first?.count ?? 0)
    position = range.upperBound
    var gains = [Float](repeating: 0, count: range.count)
    spans.removeAll { $0.upperBound <= range.lowerBound }
    for span in spans.prefix(while: { $0.lowerBound < range.upperBound }) {
      for n in span.clamped(to: range) {
        let inside = min(n - span.lowerBound, span.upperBound - n, fade)
        gains[n - range.lowerBound] = Float(inside) / Float(fade)
      }
    }
    return channels.map { zip($0, gains).map { $0 * $1 } }
  }
}
