import Foundation

/// What a test of a promise measured, for the table of `make faults`: one line of the file that PINNA_FAULTS_LOG
/// names, or nothing where it is not set.
public enum Faults {
  /// Whether the long faults are asked for; without, a test takes its quick part.
  public static let areHeavy = ProcessInfo.processInfo.environment["PINNA_FAULTS"] != nil

  /// A number that the environment may set; the heavy part takes another one than the quick one.
  public static func number(_ variable: String, quick: Double, heavy: Double) -> Double {
    ProcessInfo.processInfo.environment[variable].flatMap(Double.init) ?? (areHeavy ? heavy : quick)
  }

  /// How long something promised within `limit` may take: `make faults` holds the promise; on the shared machines
  /// of `make test` ten times as long still shows that it happens, and by itself.
  public static func patience(_ limit: Duration) -> Duration { areHeavy ? limit : limit * 10 }

  /// - Parameters:
  ///   - promise: its number in reliability.md.
  ///   - done: what was done to Pinna.
  ///   - measured: the figure, with its unit.
  ///   - limit: what was promised, in the same unit.
  ///   - isWhole: as much was done as the promise says, not only a part of it.
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

  /// A time against its limit.
  public static func report(_ promise: String, done: String, took: Duration, limit: Duration) {
    report(
      promise, done: done, measured: milliseconds(took), limit: "≤ " + milliseconds(limit),
      kept: took <= limit)
  }

  private static func milliseconds(_ duration: Duration) -> String {
    "\(Int((duration / .milliseconds(1)).rounded())) ms"
  }
}
