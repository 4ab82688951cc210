/// How the signal of a real microphone differs from that of its model: stated in the device file, or measured by
/// `pinna array calibrate`. The filters undo it.
public struct Deviation: Hashable, Sendable {
  /// Positive if the microphone is too loud.
  public var gain: Decibels
  /// In seconds, positive if its signal comes late.
  public var delay: Double
  public var isInverted: Bool

  public init(gain: Decibels = Decibels(0), delay: Double = 0, isInverted: Bool = false) {
    self.gain = gain
    self.delay = delay
    self.isInverted = isInverted
  }

  public static let none = Deviation()

  /// What can be undone: the filters have room for it.
  public static let gainRange = -24.0...24.0
  public static let delayRange = -250e-6...250e-6

  /// Both deviations, one after the other.
  public static func + (a: Deviation, b: Deviation) -> Deviation {
    Deviation(
      gain: Decibels(a.gain.value + b.gain.value), delay: a.delay + b.delay,
      isInverted: a.isInverted != b.isInverted)
  }

  /// The delay alone.
  public var delayOnly: Deviation { Deviation(delay: delay) }

  /// Amplitude factor of the signal.
  public var factor: Double { (isInverted ? -1 : 1) * gain.amplitude }
}
