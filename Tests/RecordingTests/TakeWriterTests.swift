import Acoustics
import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import Settings
import TestSupport
import Testing

@Suite("The take writer") struct TakeWriterTests {
  static let period = 64
  let folder: TemporaryFolder
  let sound: [[Float]]
  var run: OfflineRun
  /// Besides main, in tests of several feeds.
  let feeds = Self.makeFeeds()

  /// An engine that copies its first two microphones to its outputs, with input that never repeats.
  init() throws {
    folder = try TemporaryFolder()
    var noise = SeededNoise(seed: 10)
    sound = (0..<3).map { _ in noise.samples(200 * Self.period, amplitude: 0.5) }
    let engine = Engine(
      playing: FilterSet(coefficients: [[[1], [0], [0]], [[0], [1], [0]]]), period: Self.period,
      preRoll: PreRoll(microphones: 3, capacityFrames: 10 * Self.period))
    run = OfflineRun(engine, microphones: sound)
  }

  static let stereo = Selection(dataSource: "Back", polarPattern: .stereo, inputOrientation: .portrait)
  static let setup = TakeSetup(
    FeedValues(FeedSetting(stereo)),
    TakeCircumstances(
      preset: "p", device: "d", microphones: ["a", "b", "c"], latencyFrames: 0, pinna: "left-room"))

  /// - Parameter names: of the feeds to record besides main.
  func writer(
    main: Bool = true, _ names: [String] = [], in folder: String? = nil,
    _ change: (inout TakeOptions) -> Void = { _ in }
  ) throws -> TakeWriter {
    var options = TakeOptions()
    options.raw = true
    change(&options)
    let writer = TakeWriter(
      folder: folder ?? TakeFolder.resolve(self.folder.path),
      plan: TakePlan(
        outputs: main ? 2 : 0, feeds: feeds.filter { names.contains($0.setup.name) }, sampleRate: 48000,
        options: options, setup: Self.setup, preRoll: run.engine.preRoll))
    _ = try writer.opened()
    return writer
  }

  func files(_ result: TakeWriter.Result) throws -> (outputs: AudioClip, microphones: AudioClip) {
    let microphones = result.path.replacing(".wav", with: "-microphones.wav")
    return (try AudioClip(path: result.path), try AudioClip(path: microphones))
  }

  /// The number of samples of `clip` that differ from `source` in `span`; all if the lengths differ.
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
    _ = try run.engine.beginTake(into: writer.opened())
    for n in 0..<periods { run.process(Self.period, timing: timing[n] ?? Timing()) }
    return try end(writer)
  }

  @Test("a take holds the outputs, and with --raw the microphones, in step to the frame")
  mutating func raw() throws {
    for _ in 0..<5 { run.process(Self.period) }
    let result = try take(try writer(), periods: 100)
    let (outputs, microphones) = try files(result)
    // The pre-roll is part of the take.
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
    "who is heard after a gap is listed after it, even if the files do not have it yet, or nobody knows how long it is",
    arguments: [150, 20])
  mutating func talkerAfterGap(periods: Int) throws {
    let writer = try writer()
    _ = try run.engine.beginTake(into: writer.opened())
    for n in 0..<periods { run.process(Self.period, timing: n == 10 ? .stall(144_001) : Timing()) }
    writer.add(Sidecar.Talker(frame: 15 * Self.period, identity: 1, look: Look(azimuth: 10)!))
    // The disk thread looks every 20 ms.
    try #require(waitUntil(seconds: 10) { writer.frames >= 10 * Self.period })
    let document = try sidecar(try end(writer))
    #expect(document.gaps.map(\.frames) == [144_001])
    #expect(try document.talkerList()?.map(\.frame) == [15 * Self.period + 144_001])
  }

  @Test(
    "R10: a stall of Pinna leaves a gap of exact length in every file and the sidecar; R11: one of the server, none",
    arguments: [[], all])
  mutating func gaps(names: [String]) throws {
    try startFeeds()
    var pause = Timing()
    pause.pausedMicroseconds = 3_000_123
    var again = Timing()
    again.repeatedFrames = Self.period
    // A stall before its first period does not belong to the take.
    let result = try take(
      try writer(names), periods: 40,
      timing: [0: .stall(144_001), 5: again, 10: .stall(144_001), 20: pause])
    let frames = 40 * Self.period + 144_001
    #expect(result.frames == frames)
    let document = try sidecar(result)
    #expect(document.gaps == [Sidecar.Gap(frame: 10 * Self.period, frames: 144_001, cause: .stall)])
    #expect(
      document.pauses == [Sidecar.Pause(frame: 20 * Self.period + 144_001, seconds: 3.000123)])
    #expect(document.state == .incomplete)
    #expect(try #require(result.fault).contains("144001 frames at frame \(10 * Self.period)"))
    for (ending, source) in played(names) {
      let clip = try AudioClip(path: stem(result) + ending + ".wav")
      #expect(clip.channels.count == source.count)
      for (channel, source) in zip(clip.channels, source) {
        let expected =
          Array(source[..<(10 * Self.period)]) + [Float](repeating: 0, count: 144_001)
          + source[10 * Self.period..<40 * Self.period]
        let isExact = channel == expected
        #expect(isExact, "\(ending)")
      }
    }
  }

  @Test("a take with a stall explains in plain words what happened and how to prevent it")
  mutating func plainWords() throws {
    let result = try take(try writer(), periods: 20, timing: [10: .stall(4800)])
    let fault = try #require(result.fault)
    #expect(fault.hasPrefix("4800 frames at frame 640 are silence: "), "\(fault)")
    for words in ["the JACK server went on without Pinna", "a longer period", "realtime"] {
      #expect(fault.contains(words), "\(fault)")
    }
  }

  @Test(
    "R8: a take that fills its disk has its files at once, of the same length, and says in one sentence what is missing",
    .enabled(if: Program.canMount, "this user may not mount a small disk"), arguments: [[], all])
  mutating func fullDisk(names: [String]) throws {
    try startFeeds()
    let disk = TakeFolder.resolve(folder.path) + "/disk"
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    let size = names.isEmpty ? "size=80k" : "size=300k"
    let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", size, "none", disk])
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? Program.run("/usr/bin/umount", [disk]) }
    let writer = try writer(names, in: disk) { $0.raw = !names.isEmpty }
    _ = try run.engine.beginTake(into: writer.opened())
    for _ in 0..<200 { run.process(Self.period) }
    try #require(waitUntil(seconds: 5) { writer.fault != nil })
    #expect(writer.fault == "No space left on device")
    // The sound files are finished although the take still runs; its sidecar is not.
    let played = played(names).filter { $0.ending != "-microphones" || !names.isEmpty }
    for (ending, _) in played {
      let path = writer.openPath.replacing(".wav", with: ending + ".wav")
      try #require(waitUntil(seconds: 2) { access(path, F_OK) == 0 })
    }
    #expect(access(writer.openPath.replacing(".wav", with: ".json.part"), F_OK) == 0)
    let result = try end(writer)
    let frames = result.sidecar.frames
    #expect(frames > 1000 && frames < 200 * Self.period)
    #expect(
      result.fault
        == "its last \(200 * Self.period - frames) frames could not be written: No space left on device")
    #expect(try sidecar(result).state == .incomplete && sidecar(result).frames == frames)
    for (ending, source) in played {
      let clip = try AudioClip(path: writer.openPath.replacing(".wav", with: ending + ".wav"))
      #expect(differences(clip, source, 0..<frames) == 0, "\(ending)")
    }
  }

  @Test(
    "R9: a take that loses its callback has silence in every file for what was lost until then, and is incomplete",
    arguments: [[], all])
  mutating func callbackGoes(names: [String]) throws {
    try startFeeds()
    let writer = try writer(names)
    _ = try run.engine.beginTake(into: writer.opened())
    for _ in 0..<10 { run.process(Self.period) }
    run.process(Self.period, timing: .stall(4800))
    writer.abandon()
    let result = try writer.finished()
    let document = try sidecar(result)
    #expect(document.state == .incomplete && document.frames == 11 * Self.period + 4800)
    #expect(document.gaps == [Sidecar.Gap(frame: 10 * Self.period, frames: 4800, cause: .stall)])
    #expect(try #require(result.fault).contains("4800 frames at frame \(10 * Self.period)"))
    for (ending, source) in played(names) {
      let clip = try AudioClip(path: stem(result) + ending + ".wav")
      for (channel, source) in zip(clip.channels, source) {
        #expect(channel.prefix(640).elementsEqual(source.prefix(640)))
        #expect(channel.count == document.frames && channel[640..<640 + 4800].allSatisfy { $0 == 0 })
        #expect(channel.suffix(64).elementsEqual(source[640..<704]))
      }
    }
  }

  @Test("a take begins with its pre-roll, but not before the last change or take")
  mutating func preRoll() throws {
    for _ in 0..<30 { run.process(Self.period) }
    let first = try take(try writer(), periods: 20)
    var start = 20 * Self.period
    #expect(try sidecar(first).preRollFrames == 10 * Self.period)
    #expect(try differences(files(first).microphones, sound, start..<50 * Self.period) == 0)
    #expect(try differences(files(first).outputs, [run.left, run.right], start..<50 * Self.period) == 0)

    for _ in 0..<3 { run.process(Self.period) }
    let requested = run.position
    let second = try take(try writer(), periods: 2)
    // The period that ended the first take comes before or after the disk thread has released the pre-roll.
    let kept = try sidecar(second).preRollFrames
    #expect([3, 4].map { $0 * Self.period }.contains(kept))
    #expect(
      try differences(files(second).microphones, sound, requested - kept..<requested + 2 * Self.period) == 0)

    for _ in 0..<20 { run.process(Self.period) }
    let filters = FilterSet(coefficients: [[[0], [0], [1]], [[0], [1], [0]]])
    _ = try run.engine.change(to: filters, gain: 1)
    // A fade of 20 ms takes 15 periods.
    for _ in 0..<15 { run.process(Self.period) }
    start = run.position
    for _ in 0..<4 { run.process(Self.period) }
    let third = try take(try writer(), periods: 2)
    #expect(try sidecar(third).preRollFrames == 4 * Self.period)
    let end = run.position - Self.period
    #expect(try differences(files(third).outputs, [run.left, run.right], start..<end) == 0)
    #expect(zip(run.left[start..<end], sound[2][start..<end]).allSatisfy { abs($0 - $1) < 1e-5 })
  }

  @Test("a take in 24 bits counts clipped samples and writes 0 for NaN")
  mutating func clips() throws {
    var loud = sound
    loud[2][70] = .nan
    loud[1][80] = 1.5
    loud[0][90] = -2
    run = OfflineRun(run.engine, microphones: loud)
    let result = try take(try writer { $0.format = .pcm24 }, periods: 10)
    // Each in both an output and a microphone.
    #expect(result.sidecar.clippedSamples == 4)
    #expect(result.sidecar.silencedSamples == 1)
    let (outputs, microphones) = try files(result)
    #expect(outputs.channels[1][80] > 0.999 && outputs.channels[0][90] == -1)
    #expect(microphones.channels[2][70] == 0)
    #expect(result.fault == nil)
  }

  @Test("a take is split into files of the requested length without losing a frame", arguments: [1, 2])
  mutating func split(minutes: Int) throws {
    let writer = try writer {
      $0.splitMinutes = minutes
      // Longer than two minutes: the smaller limit counts.
      if minutes == 2 { $0.splitMegabytes = 100 }
    }
    // A single stall of three and a half minutes.
    let result = try take(writer, periods: 20, timing: [10: .stall(210 * 48_000)])
    let document = try sidecar(result)
    let length = 20 * Self.period + 210 * 48_000
    let segment = minutes * 60 * 48_000
    #expect(result.frames == length && document.files.count == (length + segment - 1) / segment)
    var end = 0
    for (n, files) in document.files.enumerated() {
      #expect(files.frame == end && files.frames == min(segment, length - end))
      end += files.frames
      for name in files.names {
        #expect(name.contains(n == 0 ? "-1" : "-1_\(n + 1)"))
        #expect(try AudioFileReader(path: folder.path + "/" + name).frames == files.frames)
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2 * document.files.count + 1)
    let last = try AudioClip(path: folder.path + "/" + (try #require(document.files.last?.microphones)))
    let tail = sound.map { Array($0[10 * Self.period..<20 * Self.period]) }
    for (channel, expected) in zip(last.channels, tail) {
      #expect(channel.suffix(10 * Self.period).elementsEqual(expected))
    }
  }

  @Test(
    "a take is converted to FLAC or Opus at its end if the format allows it; otherwise it stays WAV with a note"
  )
  mutating func compressed() throws {
    for _ in 0..<150 { run.process(Self.period) }
    let lossless = try take(try writer { $0.format = .flac }, periods: 20)
    let start = 140 * Self.period
    #expect(lossless.path.hasSuffix(".flac") && lossless.sidecar.notes.isEmpty && lossless.fault == nil)
    let clip = try AudioClip(path: lossless.path.replacing(".flac", with: "-microphones.flac"))
    for (channel, source) in zip(clip.channels, sound) {
      let span = start..<start + 30 * Self.period
      #expect(channel.count == span.count)
      #expect(zip(channel, source[span]).count { $0 != ($1 * 8_388_608).rounded() / 8_388_608 } == 0)
    }
    let lossy = try take(try writer { $0.format = .opus }, periods: 20)
    // The microphones stay as they are.
    #expect(lossy.path.hasSuffix(".opus") && lossy.sidecar.files[0].microphones?.hasSuffix(".wav") == true)
    #expect(lossy.sidecar.notes.map { $0.contains("opus is lossy, and microphones stay") } == [true])
    #expect(try AudioClip(path: lossy.path).frames == lossy.frames)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 6)

    let engine = Engine(microphones: 9, taps: 1, sampleRate: 44100)
    engine.prepare(period: Self.period)
    var other = OfflineRun(engine, microphones: [[Float]](repeating: sound[0], count: 9))
    let setup = TakeSetup(
      FeedValues(FeedSetting(Self.stereo)),
      TakeCircumstances(
        preset: "nine", device: "d", microphones: (0..<9).map { "m\($0)" }, latencyFrames: 0))
    for (format, expected) in [(TakeFormat.flac, 1), (.opus, 2)] {
      var options = TakeOptions()
      options.raw = true
      options.format = format
      let writer = TakeWriter(
        folder: TakeFolder.resolve(folder.path),
        plan: TakePlan(outputs: 2, sampleRate: 44100, options: options, setup: setup, preRoll: engine.preRoll)
      )
      _ = try engine.beginTake(into: writer.opened())
      other.process(Self.period)
      _ = try engine.endTake()
      other.process(Self.period)
      let result = try writer.finished()
      #expect(result.sidecar.notes.count == expected && result.fault == nil)
      #expect(result.sidecar.notes.allSatisfy { $0.contains("stays WAV") })
      for name in result.sidecar.files[0].names {
        #expect(try AudioClip(path: folder.path + "/" + name).frames == Self.period)
      }
    }
  }

  @Test("a cancelled conversion leaves the WAV file and nothing else")
  func unwantedConversion() throws {
    let path = folder.path + "/a.wav"
    var noise = SeededNoise(seed: 12)
    try AudioClip(sampleRate: 48000, channels: [noise.samples(100_000, amplitude: 0.5)]).write(wav: path)
    let whole = try Data(contentsOf: URL(filePath: path))
    // The check runs for seven blocks and the end while encoding, and as often while verifying.
    for patience in [0, 3, 10] {
      var requested = 0
      #expect(throws: AudioFileError("the conversion was cancelled")) {
        try Compression.flac.replace(wav: path) {
          requested += 1
          return requested <= patience
        }
      }
      #expect(requested == patience + 1)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.wav"])
    #expect(try Data(contentsOf: URL(filePath: path)) == whole)
  }

  @Test("a take without pre-roll of its own leaves the pre-roll that the previous take still reads")
  mutating func heldPreRoll() throws {
    for _ in 0..<5 { run.process(Self.period) }
    // The previous take has not read its pre-roll yet.
    let slow = TakeRing(outputs: 2, microphones: 3, capacityFrames: 1000)
    _ = try run.engine.beginTake(into: slow)
    run.process(Self.period)
    _ = try run.engine.endTake()
    run.process(Self.period)
    let preRoll = run.engine.preRoll
    let held = preRoll.read(age: 0, frames: 5 * Self.period, outputs: 2, microphones: 3)
    #expect(try take(writer(), periods: 3).sidecar.preRollFrames == 0)
    for _ in 0..<12 { run.process(Self.period) }
    let afterwards = preRoll.read(age: 0, frames: 5 * Self.period, outputs: 2, microphones: 3)
    #expect(slow.start?.preRoll == 5 * Self.period && held == afterwards)
    preRoll.release()
    for _ in 0..<3 { run.process(Self.period) }
    #expect(try take(writer(), periods: 3).sidecar.preRollFrames == 3 * Self.period)
  }
}
