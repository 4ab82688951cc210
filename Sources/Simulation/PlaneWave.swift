import Acoustics

/// A sound from far away in the free field, as microphones hear it: microphone m hears s(t + d·r/c), where d
/// points towards the source. Nearer to the source is earlier.
///
/// Written in the time domain on purpose, without the array manifold, so that the two can be held against each
/// other. The body of a device casts no shadow here.
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

  /// What a microphone at `position` hears at the times `start + n / rate`, n = 0 ..< count.
  /// - Parameter start: seconds after the signal's first sample reaches the origin.
  public func heard(at position: Position, rate: Int, count: Int, start: Double = 0) -> [Float] {
    signal.sampled(rate: rate, count: count, start: start + Self.lead(at: position, from: direction))
  }
}
