/// The program of `make bench`.
public enum Benchmarks {
  public static func measure(_ words: String..., seconds: Double = 120) throws -> Program.Outcome {
    try measure(words, seconds: seconds)
  }

  public static func measure(_ words: [String], seconds: Double = 120) throws -> Program.Outcome {
    try Program.run(
      try PinnaHome.built("pinna-benchmarks"), words, environment: try PinnaHome().environment,
      seconds: seconds)
  }

  /// The order statistics of a time in its JSON, lowest first.
  public static func ordered(_ times: Any?) throws -> [Double] {
    guard let times = times as? [String: Double] else { throw SupportError("no times: \(times as Any)") }
    return try ["min", "p50", "p99", "p999", "max"].map {
      guard let time = times[$0] else { throw SupportError("no \($0) in \(times)") }
      return time
    }
  }
}
