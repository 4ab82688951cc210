import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// `pinna render` with - for standard input and output.
@Suite("pinna render in a pipe") struct PipeRenderTests {
  let home: VerbHome
  /// What a file is rendered to.
  let expected: [[Float]]

  private static let (frames, noise, samples) = (VerbHome.frames, VerbHome.noise, VerbHome.samples)

  init() throws {
    home = try VerbHome()
    try AudioClip(sampleRate: 48000, channels: Self.noise).write(wav: home.path + "/in.wav")
    let outcome = try home.pinna("render", "--preset", "pair", home.path + "/in.wav", home.path + "/file.wav")
    try #require(outcome.status == 0, "\(outcome)")
    expected = try AudioClip(path: home.path + "/file.wav").channels
  }

  /// The frames of a file of the home.
  private func channels(_ name: String) throws -> [[Float]] {
    try AudioClip(path: home.path + "/" + name).channels
  }

  // MARK: Equality

  @Test(
    "through ffmpeg, pinna and ffmpeg comes what the file is rendered to, sample for sample",
    .enabled(if: access("/usr/bin/ffmpeg", X_OK) == 0, "ffmpeg is missing"),
    arguments: ["s16le", "s24le", "s32le", "f32le", "f64le"])
  func ffmpeg(encoding: String) throws {
    let outcome = try home.shell(
      """
      ffmpeg -v error -i in.wav -c:a pcm_\(encoding) -f wav - | $PINNA render --force --preset pair - - |
        ffmpeg -v error -i - -c:a pcm_f32le out.wav; echo ${PIPESTATUS[@]}
      """)
    #expect(outcome.output == "0 0 0\n", "\(outcome)")
    #expect(try channels("out.wav") == expected)
  }

  @Test(
    "what sox writes is read, and sox reads what is written",
    .enabled(if: access("/usr/bin/sox", X_OK) == 0, "sox is missing"))
  func sox() throws {
    let outcome = try home.shell(
      """
      sox -D in.wav -t wav -e floating-point -b 32 - | $PINNA render --force --preset pair - - |
        sox -D -t wav - -e floating-point -b 32 out.wav; echo ${PIPESTATUS[@]}
      """)
    #expect(outcome.output == "0 0 0\n", "\(outcome)")
    // In between sox has integers of 32 bits, and SOX_SAMPLE_TO_FLOAT_32BIT rounds those to 25: two roundings.
    let output = try channels("out.wav")
    #expect(output.map(\.count) == expected.map(\.count))
    #expect(zip(output.joined(), expected.joined()).allSatisfy { abs($0 - $1) <= 0x1p-25 + 0x1p-31 })
  }

  static let stated: [StatedSound] = [
    StatedSound(.wav, .right), StatedSound(.wav, .open), StatedSound(.wav, .bytes(0)),
    StatedSound(.wav, .bytes(0x7FFF_F000)), StatedSound(.rf64, .right), StatedSound(.rf64, .bytes(0)),
    StatedSound(.wav, .right, behind: StatedSound.listChunk),
    StatedSound(.rf64, .right, behind: StatedSound.listChunk), StatedSound(.bw64, .right),
  ]

  @Test("all of the sound counts whatever length the header states, and nothing behind it", arguments: stated)
  func lengths(sound: StatedSound) throws {
    try home.home.folder.write(Data(sound.bytes(Self.samples, channels: 2)), to: "piped.wav")
    let outcome = try home.shell(
      "cat piped.wav | $PINNA render --force --preset pair - out.wav; echo ${PIPESTATUS[@]}")
    #expect(outcome.output.hasSuffix("\n0 0\n") && outcome.hasNoComplaint, "\(outcome)")
    #expect(try channels("out.wav") == expected)
  }

  @Test("a header that states too little is told, and all of the sound counts")
  func shortHeader() throws {
    let sound = StatedSound(.wav, .bytes(4000))
    try home.home.folder.write(Data(sound.bytes(Self.samples, channels: 2)), to: "piped.wav")
    let outcome = try home.shell("cat piped.wav | $PINNA render --force --preset pair - out.wav")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.error.contains("says 1000 frames, but 20000 are there"), "\(outcome)")
    #expect(try channels("out.wav") == expected)
  }

  // MARK: What is not sound

  @Test("sound that breaks off is told, and what came is rendered")
  func truncated() throws {
    let sound = StatedSound(.wav, .right)
    try home.home.folder.write(Data(sound.bytes(Self.samples, channels: 2)), to: "piped.wav")
    let whole = try home.shell(
      """
      head -c $((44 + 40000)) piped.wav >part.wav; $PINNA render --force --preset pair part.wav file.wav 2>said &&
        cat part.wav | $PINNA render --force --preset pair - out.wav
      """)
    #expect(whole.status == 0, "\(whole)")
    #expect(whole.error.contains("its header says 20000 frames, and 10000 are there"), "\(whole)")
    #expect(try channels("out.wav") == channels("file.wav"))
    let open = StatedSound(.wav, .open)
    try home.home.folder.write(Data(open.bytes(Self.samples, channels: 2)), to: "open.wav")
    let part = try home.shell(
      "head -c $((44 + 40003)) open.wav | $PINNA render --force --preset pair - out.wav")
    #expect(part.status == 0 && part.error.contains("ends within a frame"), "\(part)")
    #expect(try channels("out.wav")[0].count == 10000)
  }

  @Test(
    "an empty pipe, half a header, no frames and other formats are errors of one sentence",
    arguments: [
      ("true", "is empty"), ("head -c 7 in.wav", "ends within its header"),
      ("head -c 40 in.wav", "ends within its header"), ("echo 'no sound at all'", "is no WAV"),
      ("head -c $(($(stat -c %s in.wav) - 160000)) in.wav", "has no frames"),
    ])
  func noSound(input: String, word: String) throws {
    for output in ["out.wav", "-"] {
      let outcome = try home.shell("\(input) | $PINNA render --force --preset pair - \(output)")
      #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains(word), "\(outcome)")
      #expect(!home.contents(".").contains { $0.hasPrefix("out.wav") })
    }
  }

  // MARK: Standard output

  @Test("what is said goes to standard error, with --json, too; the header of a file is corrected")
  func messages() throws {
    let text = try home.shell("$PINNA render --force --preset pair in.wav - >out.wav")
    #expect(text.status == 0 && text.error.contains("wrote standard output: 0:00:00.4"), "\(text)")
    #expect(try channels("out.wav") == expected)
    #expect(try AudioFileReader(path: home.path + "/out.wav").headerRemark == nil)
    let json = try home.shell("$PINNA render --force --preset pair --json in.wav - >out.wav")
    let document = try JSONSerialization.jsonObject(with: Data(json.error.utf8)) as? [String: Any]
    #expect(document?["frames"] as? Int == Self.frames && document?["output"] as? String == "-", "\(json)")
    let appended = try home.shell("$PINNA render --force --preset pair in.wav - >>out.wav; head -c 4 out.wav")
    #expect(appended.output == "RIFF")
    #expect(try AudioFileReader(path: home.path + "/out.wav").statedFrames == Self.frames)
  }

  @Test("a reader that leaves ends the work with status 1 and one sentence")
  func brokenPipe() throws {
    let outcome = try home.shell(
      "$PINNA render --force --preset pair in.wav - | head -c 100 >/dev/null; exit ${PIPESTATUS[0]}")
    #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
    #expect(outcome.error.contains("the program that reads standard output ended"), "\(outcome)")
  }

  @Test("a full disk behind standard output is an error")
  func fullDisk() throws {
    let outcome = try home.shell("$PINNA render --force --preset pair in.wav - >/dev/full")
    #expect(outcome.status == 1 && outcome.error.contains("No space left"), "\(outcome)")
  }

  @Test("terminals are refused")
  func terminals() throws {
    let outcome = try home.onTerminal("render --preset pair \(home.path)/in.wav -")
    #expect(outcome.status == 2 && outcome.output.contains("standard output is a terminal"), "\(outcome)")
  }

  @Test("a signal while nothing comes leaves no file, and a pipe without a reader does not hold it up")
  func signals() throws {
    try home.interrupt("exec $PINNA render --force --preset pair - out.wav", writing: "out.wav")

    // Longer than a pipe holds.
    let blocked = try home.startShell("exec $PINNA render --force --preset pair in.wav - >pipe")
    let reader = open(home.path + "/pipe", O_RDONLY)
    defer { close(reader) }
    usleep(500_000)
    blocked.signal(SIGINT)
    let end = try #require(blocked.wait(seconds: 10))
    #expect(end.status == 1 && end.error.contains("standard output is incomplete"), "\(end)")
  }

  // MARK: Memory

  @Test("R49: render takes at most 200 MB for a pipe, also past 4 GB, where lengths wrap")
  func memory() throws {
    let bytes = try home.longFile().bytes
    let program = try home.startShell(
      "exec $PINNA render --force --preset pair --json - - <long.wav >/dev/null")
    var peak = 0
    while program.isRunning {
      peak = max(peak, (try? program.residentMemory()) ?? 0)
      usleep(20_000)
    }
    let outcome = try #require(program.wait(seconds: 1))
    #expect(outcome.status == 0 && outcome.error.contains("\"frames\":\(bytes / 4)"), "\(outcome)")
    let megabytes = peak / 1000
    #expect(megabytes <= 200)
    Faults.report(
      "R49", done: "render of a pipe of \(bytes / 1_000_000) MB: memory at most", measured: "\(megabytes) MB",
      limit: "≤ 200 MB", kept: megabytes <= 200)
  }
}
