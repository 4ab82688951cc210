import FasterKernels
import Foundation
import LiveSupport
import Realtime
import TestSupport
import Testing

@Suite("pinna bench, and the benchmarks of make bench") struct BenchTests {
  /// Whether standard output is empty and standard error is one sentence.
  func isRefusal(_ outcome: Program.Outcome) -> Bool {
    outcome.output.isEmpty && outcome.error.hasPrefix("pinna-benchmarks: ")
      && outcome.error.filter { $0 == "\n" }.count == 1
  }

  @Test(
    "pinna bench says in one sentence what a preset, or a number of microphones, takes of each period",
    arguments: [
      ([], "5 microphones × 256 taps", "64 frames (1333 µs"),
      (["--preset", "ring7", "--period", "128"], "7 microphones × 256 taps", "128 frames (2667 µs"),
      (
        ["--microphones", "3", "--taps", "100", "--period", "48"], "3 microphones × 100 taps",
        "48 frames (1000"
      ),
    ])
  func sentence(options: [String], size: String, period: String) throws {
    let outcome = try PinnaHome().pinna(["bench"] + options)
    #expect(outcome.status == 0 && outcome.hasNoComplaint, "\(outcome)")
    let pattern =
      /[^\n]+ take ([0-9.]+) µs of each period of [^\n]+: ([0-9.e-]+) % of a core \([^\n]*L2[^\n]*\)\n/
    let found = try #require(try pattern.wholeMatch(in: outcome.output), "\(outcome)")
    #expect(try #require(Double(found.1)) > 0)
    #expect(outcome.output.hasPrefix(size) && outcome.output.contains("period of \(period)"), "\(outcome)")
  }

  @Test("pinna bench --json has the size, the time and the machine")
  func document() throws {
    let outcome = try PinnaHome().pinna(
      "bench", "--microphones", "3", "--taps", "100", "--period", "48", "--json")
    let one = try outcome.json()
    #expect(one["microphones"] as? Int == 3 && one["taps"] as? Int == 100 && one["period"] as? Int == 48)
    #expect(one["deadlineMicroseconds"] as? Double == 1000)
    #expect(try #require(one["microsecondsPerPeriod"] as? Double) > 0)
    let machine = try #require(one["machine"] as? [String: Any])
    #expect((machine["processor"] as? String)?.isEmpty == false)
  }

  @Test("pinna bench --following says what following the sound takes of a core, as text and as JSON")
  func following() throws {
    let home = try PinnaHome()
    let text = try home.pinna("bench", "--preset", "phone2", "--following").output
    let found = try #require(
      try
        /[^\n]+\nfollowing the sound takes ([0-9.]+) % of a core beside it: ([0-9.]+) to analyse it, ([0-9.]+) for each such feed\n/
        .wholeMatch(in: text), "\(text)")
    let (sum, parts) = (
      try #require(Double(found.1)), try [found.2, found.3].map { try #require(Double($0)) }
    )
    #expect(sum > 0 && abs(sum - parts[0] - parts[1]) < 0.16, "\(text)")
    let document = try home.pinna("bench", "--preset", "phone2", "--following", "--json").json()
    #expect(try #require(document["followingPercent"] as? Double) > 0)
  }

  @Test(
    "pinna bench refuses options that it would otherwise ignore",
    arguments: [
      ["--taps", "64"], ["--preset", "ring7", "--microphones", "4"], ["--microphones", "65"],
      ["--period", "0"], ["--preset", "ring7", "--taps", "64"], ["--microphones", "3", "--following"],
    ])
  func refusals(options: [String]) throws {
    let outcome = try PinnaHome().pinna(["bench"] + options)
    #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
  }

  @Test("periods prints one object per configuration, with all documented fields and the times in order")
  func fields() throws {
    let outcome = try Benchmarks.measure(
      "periods", "--microphones", "3", "--taps", "100", "--period", "48", "--periods", "400", "--isa",
      "baseline", "--json")
    #expect(outcome.status == 0, "\(outcome)")
    let configurations = try #require(try outcome.json()["configurations"] as? [[String: Any]])
    #expect(configurations.count == 1)
    let one = try #require(configurations.first)
    #expect(one["microphones"] as? Int == 3 && one["outputs"] as? Int == 2 && one["taps"] as? Int == 100)
    #expect(one["isa"] as? String == "baseline")
    #expect(one["period"] as? Int == 48 && one["deadlineMicroseconds"] as? Double == 1000)
    for times in ["microsecondsPerPeriod", "crossfadeMicroseconds"] {
      let times = try Benchmarks.ordered(one[times])
      #expect(times == times.sorted() && times[0] > 0, "\(times)")
    }
  }

  @Test(
    "periods measures every available instruction set, steady and crossfading, unless one is requested")
  func everySet() throws {
    FasterKernels.register()
    let outcome = try Benchmarks.measure("periods", "--microphones", "2", "--taps", "64", "--periods", "100")
    let sets = InstructionSet.available.map(\.rawValue)
    let lines = outcome.output.split(separator: "\n")
    #expect(
      lines.last?.contains(/^2 microphones × 64 taps at 64 frames: [0-9.]+ % of a core \(.*L2/) == true)
    let rows = lines.dropFirst().dropLast().map { $0.split(separator: " ") }
    let measured: [String] = rows.map { "\($0[3]) \($0[4])" }
    #expect(measured == sets.flatMap { ["\($0) steady", "\($0) crossfade"] })
  }

  @Test("--compare names the ratio to another run, and refuses files without one")
  func comparison() throws {
    let home = try PinnaHome()
    let words = ["periods", "--microphones", "2", "--taps", "64", "--periods", "400", "--isa", "baseline"]
    let run = try Benchmarks.measure(words + ["--json"])
    let machine = try #require(try run.json()["machine"] as? [String: Any])
    #expect((machine["processor"] as? String)?.isEmpty == false)
    // The same times, ten times as long.
    let times = try Benchmarks.ordered(
      (try run.json()["configurations"] as? [[String: Any]])?.first?["microsecondsPerPeriod"])
    let slow = run.output.replacing("\"min\":\(times[0])", with: "\"min\":\(10 * times[0])")
    try #require(slow != run.output)
    let path = try home.folder.write(slow, to: "slow.json")
    let outcome = try Benchmarks.measure(words + ["--compare", path])
    let ratio = try #require(outcome.output.firstMatch(of: /(?m)^([0-9.]+) times as fast as/)?.1)
    // Two runs of one machine differ by less than that.
    #expect((3...30).contains(try #require(Double(ratio))), "\(outcome)")
    for (text, hint) in [
      ("{}", "has no times"), (run.output.replacing("\"taps\":64", with: "\"taps\":65"), "in common"),
    ] {
      let file = try home.folder.write(text, to: "other.json")
      let refusal = try Benchmarks.measure(words + ["--compare", file])
      #expect(refusal.status == 1 && isRefusal(refusal) && refusal.error.contains(hint), "\(refusal)")
    }
  }

  @Test(
    "layouts measures each layout beside the model's time, and names the chosen and the fastest one"
  )
  func layouts() throws {
    let outcome = try Benchmarks.measure(
      "layouts", "--l2", "256K", "--microphones", "2", "--taps", "600", "--period", "16")
    let rows = outcome.output.split(separator: "\n").filter { $0.hasPrefix("          2   600      16") }
    #expect(rows.count > 2 && rows.count { $0.contains("chosen") } == 1, "\(outcome)")
    #expect(rows.count { $0.contains("fastest") } == 1)
    #expect(rows.contains { $0.contains("bins") } && rows.contains { $0.contains("mics") })
  }

  @Test(
    "period-changes times the callbacks after a prompt and a late change of period, and at lengths that come and go: none is silent"
  )
  func adoption() throws {
    let outcome = try Benchmarks.measure(
      "period-changes", "--microphones", "4", "--taps", "700", "--period", "16", "--isa", "baseline",
      "--json")
    let one = try #require((try outcome.json()["configurations"] as? [[String: Any]])?.first)
    #expect(one["otherPeriod"] as? Int == 64 && one["silentPeriods"] as? Int == 0, "\(one)")
    let longest = try #require(one["longestMicroseconds"] as? Double)
    let late = try #require(one["lateLongestMicroseconds"] as? Double)
    let offGrid = try #require(one["offGridLongestMicroseconds"] as? Double)
    let silent = try #require(one["offGridSilentPeriods"] as? Int)
    #expect(one["lateSilentPeriods"] as? Int == 0 && silent == 0 && late > 0 && offGrid > 0, "\(one)")
    #expect(longest > 0 && (one["bounded"] as? Bool == true) == (outcome.status == 0), "\(one)")
  }

  @Test(
    "the benchmarks refuse options that they would otherwise ignore",
    arguments: [
      ["scale", "live"], ["scale", "--microphones", "4"], ["engines", "--periods", "200"],
      ["periods", "--taps", "64"], ["period-changes", "--periods", "200"],
      ["period-changes", "--compare", "x"],
      ["periods", "--plot", "x.svg"], ["layouts", "--json"], ["layouts", "--periods", "200"],
      ["live", "--l2", "1M"], ["periods", "--l2", "large"], ["periods", "--isa", "v5"],
      ["periods", "--compare", "x", "--json"], ["period"],
    ])
  func combinations(words: [String]) throws {
    let outcome = try Benchmarks.measure(words)
    #expect(outcome.status == 2 && isRefusal(outcome), "\(outcome)")
  }
}
