import Acoustics

/// A plane wave in the free field. A microphone at r picks up s(t + d·r/c), where d points towards the source:
/// microphones nearer to the source receive the wave earlier.
///
/// This deliberately works in the time domain and without the array manifold, so that each can verify the other.
/// It ignores the device's body.
public struct PlaneWave: Sendable {
  public let signal: BandlimitedSignal
  /// Towards the source, in the device frame.
  public let direction: Direction

  public init(signal: BandlimitedSignal, from direction: Direction) {
    self.signal = signal
    self.direction = direction
  }

  /// Seconds by which the wave reaches `position` before it reaches the origin.
  public static func lead(at position: Position, from direction: Direction) -> Double {
    direction.vector.dot(position) / speedOfSound
  }

  /// The signal of a microphone at `position` at the times `start + n / rate`, n = 0 ..< count.
  /// - Parameter start: seconds after the signal's first sample reaches the origin.
  public func heard(at position: Position, rate: Int, count: Int, start: Double = 0) -> [Float] {
    signal.sampled(rate: rate, count: count, start: start + Self.lead(at: position, from: direction))
  }
}
