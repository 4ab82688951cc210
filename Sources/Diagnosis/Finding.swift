/// What one check found.
public struct Finding: Hashable, Sendable, Encodable {
  public enum Mark: String, Sendable, Encodable, CaseIterable {
    case ok
    /// Pinna runs, but less reliably, or less well than it could.
    case warning
    /// Something that Pinna needs does not work.
    case fault
  }

  public let mark: Mark
  /// What was checked: "realtime priority".
  public let subject: String
  /// One sentence without a full stop.
  public let found: String
  /// Why it matters; nil if all is well.
  public let reason: String?
  /// The command, or the step, that puts it right; nil if all is well.
  public let remedy: String?

  public static func ok(_ subject: String, _ found: String) -> Finding {
    Finding(mark: .ok, subject: subject, found: found, reason: nil, remedy: nil)
  }

  public static func warning(_ subject: String, _ found: String, because reason: String, remedy: String)
    -> Finding
  {
    Finding(mark: .warning, subject: subject, found: found, reason: reason, remedy: remedy)
  }

  public static func fault(_ subject: String, _ found: String, because reason: String, remedy: String)
    -> Finding
  {
    Finding(mark: .fault, subject: subject, found: found, reason: reason, remedy: remedy)
  }
}
