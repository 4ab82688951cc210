/// The phasors e^(jωτ) of several delays τ at ascending frequencies.
///
/// Where frequencies are evenly spaced, each phasor is the one before it times a constant. That saves sines and cosines,
/// which were a third of the time of a phone's design.
package struct Phasors {
  /// Those of `frequency`, one per delay.
  package private(set) var values: [Complex]

  private let delays: [Double]
  /// In hertz; 0 at first.
  private var frequency = 0.0
  private var spacing = 0.0
  /// The phasors of `spacing`.
  private var steps: [Complex]

  /// Spacings that differ by less, in hertz, count as equal: the rounding of multiples up to 20 kHz.
  private static let tolerance = 1e-9

  /// - Parameter delays: in seconds; positive for a lead, whose phase grows with frequency.
  package init(delays: [Double]) {
    self.delays = delays
    values = [Complex](repeating: .one, count: delays.count)
    steps = values
  }

  /// - Parameter next: in hertz.
  package mutating func advance(to next: Double) {
    if abs(next - frequency - spacing) > Self.tolerance {
      spacing = next - frequency
      for i in steps.indices { steps[i] = Complex(phase: 2 * .pi * spacing * delays[i]) }
    }
    frequency = next
    values.withUnsafeMutableBufferPointer { values in
      steps.withUnsafeBufferPointer { steps in
        for i in values.indices { values[i] = steps[i] * values[i] }
      }
    }
  }
}
