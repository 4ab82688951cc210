import Foundation
import LiveSupport
import TestSupport
import Testing

@Suite("Allocations in the callback") struct AllocationTests {
  /// The counts that the program prints, by name.
  func count(_ options: [String]) throws -> [String: Int] {
    let folder = URL(filePath: try PinnaHome.binary()).deletingLastPathComponent()
    let outcome = try Program.run(folder.appending(path: "allocations").path, options, seconds: 60)
    try #require(outcome.status == 0, "\(outcome)")
    let words = outcome.output.split(whereSeparator: \.isWhitespace).map(String.init)
    return Dictionary(
      uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map {
        (words[$0], Int(words[$0 + 1]) ?? -1)
      }
    )
  }

  @Test(
    "10 000 periods with changes, takes, feeds that come and go and new period lengths allocate and free nothing",
    .long,
    arguments: [[], ["--baseline"]])
  func nothing(options: [String]) throws {
    let counts = try count(options)
    #expect(counts["calls"] == 0, "\(counts)")
    #expect(counts["unprepared"] == 0, "\(counts)")
    // The run really contained changes and takes.
    #expect(try #require(counts["adopted"]) > 100 && (try #require(counts["applied"])) > 100, "\(counts)")
    #expect(counts["takes"] == 20 && counts["ended"] == 20, "\(counts)")
    #expect(try #require(counts["feeds"]) >= 20, "\(counts)")
    // A feed's voices alone take more than 10 kB: a thousand that stayed would be 10 MB.
    #expect(try #require(counts["left"]) >= 1000 && (try #require(counts["growth"])) < 100_000, "\(counts)")
  }

  @Test("the worker of stereo that follows the sound allocates nothing once it runs")
  func worker() throws {
    let counts = try count([])
    #expect(counts["worker"] == 0 && counts["adapting"] == 1 && counts["wind"] == 1, "\(counts)")
  }

  @Test("the counter finds ten planted allocations")
  func mutation() throws { #expect(try count(["--leaky"])["calls"] == 10) }
}
