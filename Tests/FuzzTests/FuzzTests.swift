import Acoustics
import Foundation
import FuzzSupport
import Manifolds
import TestSupport
import Testing

/// Every parser of untrusted input, fed with its corpus and with random mutations. `make fuzz` lets libFuzzer
/// search the same parsers for new paths under AddressSanitizer; its findings join the corpora.
@Suite("Parsers under random inputs") struct FuzzTests {
  /// The number of inputs in thousands, and the seed.
  static let thousands = Faults.number("PINNA_FUZZ", quick: 2, heavy: 20)
  static let seed = UInt64(Faults.number("PINNA_FUZZ_SEED", quick: 1, heavy: 1))

  /// How many inputs were read and refused, and the slowest refusal as measured by `clock`.
  struct Verdict {
    var read = 0
    var refused = 0
    var slowest = Duration.zero
    var slowestInput: [UInt8] = []
    /// The longest time on the wall clock.
    var longest = Duration.zero
    let limit: Duration
    let clock: (() -> Void) -> Duration

    mutating func judge(_ input: [UInt8], _ attempt: () throws -> Void) {
      var refusal: (any Error)?
      let start = ContinuousClock.now
      let took = clock { do { try attempt() } catch { refusal = error } }
      longest = max(longest, .now - start)
      guard let refusal else {
        read += 1
        return
      }
      refused += 1
      if took > slowest { (slowest, slowestInput) = (took, input) }
      if let finding = FuzzFinding(refusal: refusal) {
        Issue.record("\(finding) from \(Data(input).base64EncodedString())")
      }
    }

    func report(_ promise: String, _ what: String) {
      #expect(refused > 0 && read > 0)
      #expect(slowest <= limit, "\(slowest) for \(Data(slowestInput).base64EncodedString())")
      // Waiting takes no processor time. The disk and other programs may add this much.
      #expect(longest <= limit * 20, "\(longest) on the wall clock")
      Faults.report(
        promise, done: "\(read + refused) \(what), \(refused) refused: slowest", took: slowest,
        limit: limit)
    }
  }

  static func parsers(_ promise: String) -> [FuzzedParser] {
    FuzzedParser.allCases.filter { $0.promise == promise }
  }

  /// Feeds the corpus unchanged, then `count` mutated inputs.
  func feed(_ parser: FuzzedParser, count: Double, limit: Duration = .milliseconds(50)) throws -> Verdict {
    let harness = try ParserHarness(parser)
    let corpus = try parser.corpus()
    var mutation = Mutation(seed: Self.seed, corpus: corpus, words: try parser.words())
    // Measured in processor time, so that other programs do not count.
    var verdict = Verdict(limit: limit, clock: threadTime)
    for input in corpus { verdict.judge(input) { try harness.feed(input) } }
    for _ in 0..<Int(count) {
      let input = mutation.next()
      verdict.judge(input) { try harness.feed(input) }
    }
    return verdict
  }

  @Test(
    "R15: devices, presets and scenes are read or refused in one line within 50 ms", arguments: parsers("R15")
  )
  func descriptions(parser: FuzzedParser) throws {
    try feed(parser, count: 1000 * Self.thousands).report("R15", "\(parser) files")
  }

  @Test(
    "R16: sounds (500 ms), filters, directions and unfinished takes (50 ms) are read or refused in one line; a repair changes nothing outside its folder",
    .long,
    arguments: parsers("R16"))
  func files(parser: FuzzedParser) throws {
    // Repair waits for the disk.
    let count: Double = [.take, .sidecar].contains(parser) ? 100 : 300
    // libsndfile makes a system call per comment that an AIFF file claims to have: 65 535 of them take 0.1 to
    // 0.3 s.
    let limit = Duration.milliseconds(parser == .sound ? 500 : 50)
    try feed(parser, count: count * Self.thousands, limit: limit).report("R16", "\(parser) files")
  }

  @Test("R16: SOFA files are read or refused in one line by a process with limits of its own")
  func sofaFiles() throws {
    let corpus = try ["sphere", "turned"].map {
      Array(try Data(contentsOf: URL(filePath: "\(repositoryFolder)/Tests/Golden/\($0).sofa")))
    }
    let words = [
      "TREE", "HEAP", "SNOD", "OHDR", "FRHP", "FADB", "BTHD", "GCOL", "Data.IR", "DIMENSION_LIST", "FIR", "M",
      "R",
    ].map { Array($0.utf8) }
    var mutation = Mutation(seed: Self.seed, corpus: corpus, words: words)
    let folder = try TemporaryFolder()
    let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]
    // The reader's limit is 2 s of processor time in another process, so only the wall clock can show it.
    var verdict = Verdict(limit: Faults.patience(.milliseconds(2500))) { ContinuousClock().measure($0) }
    for _ in 0..<Int(50 * Self.thousands) {
      let input = mutation.next()
      let path = try folder.write(Data(input), to: "a.sofa")
      verdict.judge(input) { _ = try MeasuredManifold(.sofa(path: path), positions: positions) }
    }
    verdict.report("R16", "SOFA files")
  }

  @Test("R17: OSC packets are read or dropped, and a packet that is read equals the one sent")
  func packets() throws {
    let verdict = try feed(.osc, count: 10_000 * Self.thousands)
    #expect(verdict.read > verdict.refused / 100 && verdict.refused > 0)
  }

  @Test(
    "R53: of any MIDI events, whole messages act as they say, and no encoder is learned as a fader", .long)
  func midi() throws {
    try feed(.midi, count: 10_000 * Self.thousands).report("R53", "MIDI events")
  }
}
