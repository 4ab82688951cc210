import AudioFiles
import Foundation
import Realtime
import Recording
import TestSupport
import Testing

@Suite("A take") struct TakeWriterTests {
  static let period = 64
  let folder: TemporaryFolder
  let sound: [[Float]]
  var run: OfflineRun

  /// An engine that puts its first two microphones out as they are, over sound that never repeats.
  init() throws {
    folder = try TemporaryFolder()
    var noise = SeededNoise(seed: 10)
    sound = (0..<3).map { _ in noise.samples(200 * Self.period, amplitude: 0.5) }
    let engine = Engine(microphones: 3, taps: 1, sampleRate: 48000, preRollFrames: 10 * Self.period)
    engine.start(with: FilterSet(coefficients: [[[1], [0], [0]], [[0], [1], [0]]], channels: 2))
    engine.prepare(period: Self.period)
    run = OfflineRun(engine, microphones: sound)
  }

  static let setup = TakeSetup(
    preset: "p", device: "d", dataSource: "Back", polarPattern: "stereo", inputOrientation: "portrait",
    layout: nil, gainDB: 0, muted: false, microphones: ["a", "b", "c"], latencyFrames: 0)

  func writer(raw: Bool = true, _ encoding: SampleEncoding = .float32) throws
    -> TakeWriter
  {
    var options = TakeOptions()
    options.raw = raw
    options.encoding = encoding
    return try TakeWriter(
      folder: TakeFolder(path: TakeFolder.resolve(folder.path)),
      plan: TakePlan(
        outputs: 2, sampleRate: 48000, options: options, setup: Self.setup,
        preRoll: run.engine.preRoll))
  }

  func files(_ result: TakeWriter.Result) throws -> (outputs: AudioClip, microphones: AudioClip) {
    let microphones = result.path.replacing(".wav", with: "-microphones.wav")
    return (try AudioClip(path: result.path), try AudioClip(path: microphones))
  }

  /// Samples of `clip` that are not those of `source` in `span`; all where the lengths differ.
  func differences(_ clip: AudioClip, _ source: [[Float]], _ span: Range<Int>) -> Int {
    guard clip.channels.count == source.count, clip.frames == span.count else { return span.count }
    return zip(clip.channels, source).reduce(0) { sum, pair in
      sum + zip(pair.0, pair.1[span]).count { $0.bitPattern != $1.bitPattern }
    }
  }

  func sidecar(_ result: TakeWriter.Result) throws -> Sidecar {
    try Sidecar.read(result.path.replacing(".wav", with: ".json"))
  }

  mutating func take(_ writer: TakeWriter, periods: Int, timing: [Int: Timing] = [:]) throws
    -> TakeWriter.Result
  {
    _ = try run.engine.beginTake(into: writer.ring)
    for n in 0..<periods { run.process(Self.period, timing: timing[n] ?? Timing()) }
    _ = try run.engine.endTake()
    run.process(Self.period)
    return writer.finish()
  }

  @Test("has what came out, and with --raw what went in, in step to the frame")
  mutating func raw() throws {
    for _ in 0..<5 { run.process(Self.period) }
    let result = try take(try writer(), periods: 100)
    let (outputs, microphones) = try files(result)
    // What came before belongs to it.
    let span = 0..<105 * Self.period
    #expect(result.fault == nil && result.frames == span.count)
    #expect(differences(outputs, [run.left, run.right], span) == 0)
    #expect(differences(microphones, sound, span) == 0)
    let document = try sidecar(result)
    #expect(document == result.sidecar)
    #expect(document.state == .complete && document.gaps.isEmpty && document.frames == span.count)
    #expect(document.setup == Self.setup)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  @Test(
    "R10: has silence of the exact length where Pinna stood still, and says where; R11: nothing for the server"
  )
  mutating func gaps() throws {
    var stall = Timing()
    stall.skippedFrames = 144_001
    var pause = Timing()
    pause.pausedMicroseconds = 3_000_123
    var again = Timing()
    again.isRepeat = true
    // A stall before its first period is not the take's.
    let result = try take(
      try writer(), periods: 40, timing: [0: stall, 10: stall, 20: pause, 30: again])
    let frames = 39 * Self.period + 144_001
    #expect(result.frames == frames)
    let document = try sidecar(result)
    #expect(document.gaps == [Sidecar.Gap(frame: 10 * Self.period, frames: 144_001, cause: .stall)])
    #expect(
      document.pauses == [Sidecar.Pause(frame: 20 * Self.period + 144_001, seconds: 3.000123)])
    #expect(document.state == .incomplete)
    #expect(try #require(result.fault).contains("144001 frames at frame \(10 * Self.period)"))
    let (outputs, microphones) = try files(result)
    for (channel, source) in zip(outputs.channels + microphones.channels, [run.left, run.right] + sound) {
      #expect(channel.count == frames)
      let silence = 10 * Self.period..<10 * Self.period + 144_001
      var expected = Array(source[..<silence.lowerBound]) + [Float](repeating: 0, count: silence.count)
      expected += source[10 * Self.period..<30 * Self.period] + source[31 * Self.period..<40 * Self.period]
      #expect(zip(channel, expected).count { $0 != $1 } == 0)
    }
  }

  @Test("begins with what came before it was asked for, no further back than the last change or take")
  mutating func preRoll() throws {
    for _ in 0..<30 { run.process(Self.period) }
    let first = try take(try writer(), periods: 20)
    var start = 20 * Self.period
    #expect(try sidecar(first).preRollFrames == 10 * Self.period)
    #expect(try differences(files(first).microphones, sound, start..<50 * Self.period) == 0)
    #expect(try differences(files(first).outputs, [run.left, run.right], start..<50 * Self.period) == 0)

    for _ in 0..<3 { run.process(Self.period) }
    let asked = run.position
    let second = try take(try writer(), periods: 2)
    // The period that ended the first take comes before the disk has let go, or after.
    let kept = try sidecar(second).preRollFrames
    #expect([3, 4].map { $0 * Self.period }.contains(kept))
    #expect(
      try differences(files(second).microphones, sound, asked - kept..<asked + 2 * Self.period) == 0)

    for _ in 0..<20 { run.process(Self.period) }
    let filters = FilterSet(coefficients: [[[0], [0], [1]], [[0], [1], [0]]], channels: 2)
    _ = try run.engine.change(to: filters, gain: 1)
    // 20 ms are 15 periods.
    for _ in 0..<15 { run.process(Self.period) }
    start = run.position
    for _ in 0..<4 { run.process(Self.period) }
    let third = try take(try writer(), periods: 2)
    #expect(try sidecar(third).preRollFrames == 4 * Self.period)
    let end = run.position - Self.period
    #expect(try differences(files(third).outputs, [run.left, run.right], start..<end) == 0)
    #expect(zip(run.left[start..<end], sound[2][start..<end]).allSatisfy { abs($0 - $1) < 1e-5 })
  }

  @Test("in 24 bits says how much was clipped, and silences what is no number")
  mutating func clips() throws {
    var loud = sound
    loud[2][70] = .nan
    loud[1][80] = 1.5
    loud[0][90] = -2
    run = OfflineRun(run.engine, microphones: loud)
    let result = try take(try writer(.pcm24), periods: 10)
    // Both in what came out and in what went in.
    #expect(result.sidecar.clippedSamples == 4)
    #expect(result.sidecar.silencedSamples == 1)
    let (outputs, microphones) = try files(result)
    #expect(outputs.channels[1][80] > 0.999 && outputs.channels[0][90] == -1)
    #expect(microphones.channels[2][70] == 0)
    #expect(result.fault == nil)
  }

  @Test("R19: goes through no symbolic link, no .., and into nothing that is no folder; overwrites nothing")
  func paths() throws {
    let real = TakeFolder.resolve(folder.path)
    try folder.write("x", to: "file")
    try FileManager.default.createSymbolicLink(atPath: real + "/link", withDestinationPath: "/tmp")
    mkfifo(real + "/fifo", 0o600)
    try FileManager.default.createDirectory(atPath: real + "/a", withIntermediateDirectories: false)
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: Self.setup,
      preRoll: PreRoll(microphones: 3, capacityFrames: 0))
    let hostile =
      [
        "link", "link/below", "a/..", "a/../a", "../etc", "file", "file/below", "fifo", "fifo/below",
      ].map { real + "/" + $0 } + [
        "/dev/null", "/dev/null/a", "relative", "", "/proc/self/fd/0", "/proc/pinna",
      ]
    for path in hostile {
      #expect(throws: TakeError.self, "\(path)") {
        try TakeWriter(folder: TakeFolder(path: path), plan: plan)
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: real).sorted() == ["a", "fifo", "file", "link"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: real + "/a").isEmpty)

    // Every name that the next take could have is taken, each by another of its files.
    let names = DateFormatter()
    names.locale = Locale(identifier: "en_US_POSIX")
    names.dateFormat = "yyyy-MM-dd'T'HHmmss"
    var made: [String] = []
    for second in 0..<3 {
      let stem = "a/\(names.string(from: Date(timeIntervalSinceNow: Double(second))))-p"
      for (n, ending) in [".wav", ".wav.part", "-microphones.wav.part", ".json", "_2.wav", ".flac"]
        .enumerated()
      {
        made.append(try folder.write("mine", to: "\(stem)-\(n + 1)\(ending)"))
      }
    }
    let writer = try TakeWriter(folder: TakeFolder(path: real + "/a"), plan: plan)
    #expect(writer.path.hasSuffix("-7.wav"))
    writer.discard()
    _ = writer.finish()
    #expect(try made.allSatisfy { try String(contentsOfFile: $0, encoding: .utf8) == "mine" })
    #expect(try FileManager.default.contentsOfDirectory(atPath: real + "/a").count == made.count)
  }
}
