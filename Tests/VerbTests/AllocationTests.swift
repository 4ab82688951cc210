import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite struct AllocationTests {
  /// The numbers that the program prints, by the words before them.
  func count(_ options: [String]) throws -> [String: Int] {
    let beside = URL(filePath: try PinnaHome.binary()).deletingLastPathComponent()
    let outcome = try Program.run(beside.appending(path: "allocations").path, options, seconds: 60)
    try #require(outcome.status == 0, "\(outcome)")
    let words = outcome.output.split(whereSeparator: \.isWhitespace).map(String.init)
    return Dictionary(
      uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map {
        (words[$0], Int(words[$0 + 1]) ?? -1)
      }
    )
  }

  @Test(
    "10 000 periods with changes, takes and other periods in them allocate and free nothing",
    arguments: [[], ["--baseline"]])
  func nothing(options: [String]) throws {
    let counts = try count(options)
    #expect(counts["calls"] == 0, "\(counts)")
    #expect(counts["unprepared"] == 0, "\(counts)")
    // All of it really was in them.
    #expect(try #require(counts["adopted"]) > 100 && (try #require(counts["applied"])) > 100, "\(counts)")
    #expect(counts["takes"] == 20 && counts["ended"] == 20, "\(counts)")
  }

  @Test("The counter counts: ten allocations among the same periods are ten")
  func mutation() throws { #expect(try count(["--leaky"])["calls"] == 10) }
}
