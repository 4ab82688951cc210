import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

extension TakeWriterTests {
  @Test("a sidecar with a gap in every period lists the first 10 000, sums up the rest, and can be read")
  mutating func manyGaps() throws {
    let (most, more) = (Sidecar.listLimit, 300)
    let periods = most + more
    let engine = Engine(playing: FilterSet(coefficients: [[[1]], [[1]]]), period: 8)
    run = OfflineRun(engine, microphones: [[Float](repeating: 0.25, count: 8 * (periods + 2))])
    let writer = TakeWriter(
      folder: TakeFolder.resolve(folder.path),
      plan: TakePlan(
        outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: Self.setup, preRoll: engine.preRoll))
    _ = try engine.beginTake(into: writer.opened())
    let stall = Timing.stall(3)
    var both = stall
    both.pausedMicroseconds = 60_000
    run.process(8)
    for n in 1...periods {
      run.process(8, timing: n > periods - 2 ? both : stall)
      // Let the disk keep up: the ring stores a limited number of gaps.
      if n % 100 == 0 { try #require(waitUntil(seconds: 20) { writer.frames >= 11 * (n - 100) }) }
    }
    _ = try engine.endTake()
    run.process(8)
    let result = try writer.finished()
    #expect(result.frames == 8 + 11 * periods)
    let document = try sidecar(result)
    #expect(document == result.sidecar)
    #expect(document.gaps.count == most && document.gaps.allSatisfy { $0.frames == 3 && $0.cause == .stall })
    let rest = try #require(document.unlisted)
    #expect(rest.count == 1 && rest[0].cause == .stall && rest[0].count == more && rest[0].frames == 3 * more)
    #expect(rest[0].frame == 8 + 11 * most && document.pauses.count == 2)
    #expect(
      try #require(result.fault).contains(
        "\(3 * periods) frames in \(periods) places from frame 8 are silence"))
    #expect(TakeFolder(path: folder.path).takes().map(\.frames) == [result.frames])
  }

  /// Kinds of unreadable sidecars, with the reason that is given for each.
  enum Unreadable: CaseIterable {
    case damaged, empty, large, fifo, folder

    func replace(_ path: String) throws {
      try? FileManager.default.removeItem(atPath: path)
      switch self {
      case .damaged: try "{\"files\": [".write(toFile: path, atomically: false, encoding: .utf8)
      case .empty: try "{}".write(toFile: path, atomically: false, encoding: .utf8)
      case .large:
        try "{".write(toFile: path, atomically: false, encoding: .utf8)
        truncate(path, off_t(64 << 20) + 1)
      case .fifo: mkfifo(path, 0o600)
      case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
    }

    var reason: String {
      switch self {
      case .damaged, .empty: "is not a take's sidecar, or it is damaged"
      case .large: "is larger than 64 MiB"
      case .fifo, .folder: "is not a regular file"
      }
    }
  }

  @Test(
    "R6: a take with an unreadable sidecar is reported, and repair leaves its files alone",
    arguments: Unreadable.allCases)
  mutating func unreadableSidecar(_ what: Unreadable) throws {
    let result = try take(try writer(), periods: 20)
    let json = result.path.replacing(".wav", with: ".json")
    let takes = TakeFolder(path: folder.path)
    func complaints() -> [String] {
      var all: [String] = []
      _ = takes.takes { all.append($0) }
      return all
    }
    // A JSON file that belongs to no sound is ignored.
    try folder.write("{}", to: "package.json")
    #expect(complaints().isEmpty)
    try what.replace(json)
    #expect(throws: TakeError.self) { try Sidecar.read(json) }
    #expect(complaints().count == 1 && complaints()[0].contains("\(json) \(what.reason)"), "\(complaints())")
    #expect(complaints()[0].contains("move it away") && !complaints()[0].contains("\n"))

    // The same for an unfinished take, whose files differ in length.
    let raw = result.path.replacing(".wav", with: "-microphones.wav")
    for path in [json, result.path, raw] { #expect(rename(path, path + ".part") == 0) }
    func sizes() throws -> [Int] {
      try [result.path, raw].map {
        try #require(try FileManager.default.attributesOfItem(atPath: $0 + ".part")[.size] as? Int)
      }
    }
    truncate(raw + ".part", off_t(try sizes()[1] - 120))
    let before = try sizes()
    #expect(complaints().count == 1)
    let repaired = takes.repair()
    #expect(repaired.count == 1 && repaired[0].path == result.path + ".part")
    #expect(try #require(repaired.first?.fault).contains("\(json).part \(what.reason)"))
    #expect(try sizes() == before)
    // The suggested remedy works.
    #expect(rename(json + ".part", folder.path + "/away") == 0)
    #expect(takes.repair().map(\.fault) == [nil, nil])
  }

  @Test("a missing sidecar is reported as missing")
  func missingSidecar() throws {
    let path = folder.path + "/none.json"
    #expect(throws: TakeError("\(path) cannot be read: No such file or directory")) { try Sidecar.read(path) }
  }
}
