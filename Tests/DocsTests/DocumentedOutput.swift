import Foundation

/// Compares a command's documented output with its actual output.
///
/// All numbers count as equal, and so do all runs of spaces. On the page, a line "…" stands for any lines,
/// and a line that ends in "…" for any ending.
enum DocumentedOutput {
  static func matches(_ shown: [String], _ printed: [String]) -> Bool {
    // What a verb says while it works depends on how fast the machine is.
    let printed = printed.filter { $0.wholeMatch(of: #/pinna: .+: [0-9]+ (%|s so far)(, .+)?/#) == nil }
    return matches(shown.map(masked)[...], printed.map(masked)[...])
  }

  private static func matches(_ shown: ArraySlice<String>, _ printed: ArraySlice<String>) -> Bool {
    guard let first = shown.first else { return printed.isEmpty }
    if first == "…" {
      return (printed.startIndex...printed.endIndex).contains { matches(shown.dropFirst(), printed[$0...]) }
    }
    guard let line = printed.first else { return false }
    let isEqual = first.hasSuffix("…") ? line.hasPrefix(first.dropLast()) : line == first
    return isEqual && matches(shown.dropFirst(), printed.dropFirst())
  }

  static func masked(_ line: String) -> String {
    // "1 xrun" or "2 xruns": their number depends on the machine.
    line.replacing(#/xruns?\b/#, with: "xruns").replacing(#/[-+−]?[0-9]+(\.[0-9]+)?/#, with: "#").replacing(
      #/\s+/#, with: " "
    )
    .trimmingCharacters(in: .whitespaces)
  }
}
