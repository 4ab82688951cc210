/// How the microphones of one array deviate from its device file, as measured.
public struct Calibration: Hashable, Sendable {
  /// By microphone; those that are missing do not deviate.
  public let deviations: [String: Deviation]
  /// The day on which it was measured: "2026-11-23".
  public let date: String
  /// How it was measured, for people: "10 s of diffuse sound".
  public let method: String

  public init(deviations: [String: Deviation], date: String, method: String) {
    self.deviations = deviations
    self.date = date
    self.method = method
  }
}
