#if canImport(Glibc)
  import Glibc
#endif

/// An angle. Files, commands and reports use degrees; computations use radians.
public struct Angle: Hashable, Sendable {
  public let radians: Double

  public init(radians: Double) { self.radians = radians }
  public static func degrees(_ degrees: Double) -> Angle { Angle(radians: degrees * .pi / 180) }
  public var degrees: Double { radians * 180 / .pi }
}

/// A frequency or a sample rate, in hertz.
public struct Hertz: Hashable, Sendable, Comparable {
  public let value: Double

  public init(_ value: Double) { self.value = value }
  public static func < (a: Hertz, b: Hertz) -> Bool { a.value < b.value }
}

/// A level in decibels: 20 log10 of an amplitude ratio.
public struct Decibels: Hashable, Sendable, Comparable {
  public let value: Double

  /// Usable gains of the outputs.
  public static let outputGains = -60.0...24.0

  public init(_ value: Double) { self.value = value }
  public static func < (a: Decibels, b: Decibels) -> Bool { a.value < b.value }
}

/// Speed of sound in air at 20 °C, metres per second.
public let speedOfSound = 343.0

extension Decibels {
  /// The amplitude ratio: 6 dB is 1.995.
  public var amplitude: Double { pow(10, value / 20) }
  /// The factor on powers: 6 dB is 3.981.
  public var powerRatio: Double { pow(10, value / 10) }
}
