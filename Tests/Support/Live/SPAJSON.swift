import Foundation

/// PipeWire's own reader of its configuration files (SPA-JSON).
public enum SPAJSON {
  private static let reader = "/usr/bin/spa-json-dump"
  public static let isPossible = access(reader, X_OK) == 0

  /// The top level of a file.
  /// - Throws: `SupportError` with the reader's words, if it refuses the file.
  public static func read(_ path: String) throws -> [String: Any] {
    let outcome = try Program.run(reader, [path], environment: [:])
    guard outcome.status == 0 else { throw SupportError("\(outcome)") }
    return try outcome.json()
  }
}
