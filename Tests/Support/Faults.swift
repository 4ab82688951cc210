import Foundation

/// Results of promise tests for the table of `make faults`: a line in the file that PINNA_FAULTS_LOG names,
/// if it is set.
public enum Faults {
  /// Whether the long variants of the tests are requested.
  public static let areHeavy = ProcessInfo.processInfo.environment["PINNA_FAULTS"] != nil

  /// A number that the environment may set, with defaults for the quick and the long variant.
  public static func number(_ variable: String, quick: Double, heavy: Double) -> Double {
    ProcessInfo.processInfo.environment[variable].flatMap(Double.init) ?? (areHeavy ? heavy : quick)
  }

  /// The time limit of a test for something promised within `limit`. `make faults` requires the promise.
  /// `make test` runs on shared machines and allows ten times as long, which still shows that it happens by
  /// itself.
  public static func patience(_ limit: Duration) -> Duration { areHeavy ? limit : limit * 10 }

  /// - Parameters:
  ///   - promise: its number in reliability.md.
  ///   - done: what was done to Pinna.
  ///   - measured: the figure with its unit.
  ///   - limit: the promised figure in the same unit.
  ///   - isWhole: whether the whole promise was tested and not only a part of it.
  public static func report(
    _ promise: String, done: String, measured: String, limit: String, kept: Bool, isWhole: Bool = true
  ) {
    let verdict = !kept ? "BROKEN" : isWhole ? "kept" : "kept in part"
    let line = [promise, done, measured, limit, verdict].joined(separator: "\t")
    print("\(promise): \(done): \(measured) (\(limit)) \(verdict)")
    guard let path = ProcessInfo.processInfo.environment["PINNA_FAULTS_LOG"] else { return }
    let log = fopen(path, "a")
    defer { if let log { fclose(log) } }
    if let log { fputs(line + "\n", log) }
  }

  /// Reports a time and its limit.
  public static func report(_ promise: String, done: String, took: Duration, limit: Duration) {
    report(
      promise, done: done, measured: milliseconds(took), limit: "≤ " + milliseconds(limit),
      kept: took <= limit)
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\(Int((duration / .milliseconds(1)).rounded())) ms"
  }
}
