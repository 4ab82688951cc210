import Acoustics
import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

private let recording = repositoryFolder + "/../shared/data/linear8-speech-16k.wav"
private let isThere = FileManager.default.isReadableFile(atPath: recording)

extension OfflineTests {
  @Suite("A real recording of eight microphones") struct RecordingTests {
    let home: PinnaHome
    init() throws { home = try PinnaHome() }

    func render(_ input: String, period: Int = 1024) throws -> AudioClip {
      let output = home.folder.path + "/out.wav"
      let outcome = try home.pinna(
        "render", "--force", "--preset", "linear8", "--data-source", "Front", "--pattern", "stereo",
        "--period",
        "\(period)", input, output)
      try #require(outcome.status == 0, "\(outcome)")
      return try AudioClip(path: output)
    }

    /// The level difference left over right from 200 to 7000 Hz, in dB.
    func balance(_ clip: AudioClip) -> Double {
      bandLevel(clip.channels[0], sampleRate: clip.sampleRate, from: 200, to: 7000)
        - bandLevel(clip.channels[1], sampleRate: clip.sampleRate, from: 200, to: 7000)
    }

    @Test(
      "the rendered recording is finite, below full scale, and has the talker near the middle",
      .enabled(if: isThere, "\(recording) is not there"))
    func renders() throws {
      let clip = try render(recording)
      #expect(clip.sampleRate == 16000)
      #expect(clip.channels.count == 2)
      #expect(try AudioClip(path: recording).frames == clip.frames)
      let samples = clip.channels.joined()
      #expect(samples.allSatisfy { $0.isFinite })
      let peak = samples.map(\.magnitude).max()!
      #expect(peak <= 1)
      #expect(peak > 0.01)
      #expect(abs(balance(clip)) <= 3, "left over right: \(balance(clip)) dB")
    }

    @Test(
      "a recording delayed as if from 45° moves at least 2 dB to that side",
      .enabled(if: isThere, "\(recording) is not there"), arguments: [-1.0, 1.0])
    func moves(side: Double) throws {
      // Seen from behind the front data source, the device's +x is on the left.
      let positions = (0..<8).map { Position((Double($0) - 3.5) * 0.07, 0, 0) }
      let oblique = try #require(Direction([side, 0, 1]))
      var moved = try AudioClip(path: recording)
      moved.channels = movingSource(
        of: moved.channels, sampleRate: moved.sampleRate, at: positions, from: .plusZ, to: oblique)
      let input = home.folder.path + "/moved.wav"
      try moved.write(wav: input)
      let originalBalance = balance(try render(recording))
      let movedBalance = balance(try render(input))
      #expect(
        side * (movedBalance - originalBalance) >= 2,
        "left over right: \(originalBalance) dB, moved \(movedBalance) dB")
    }

    @Test(
      "a live graph at 16 kHz outputs the recording bit for bit as render writes it",
      .enabled(if: isThere, "\(recording) is not there"), arguments: [128, 1024])
    func live(period: Int) throws {
      let graph = try OfflineGraph(preset: "linear8", sampleRate: 16000, period: period, captures: 8)
      var clip = try AudioClip(path: recording)
      // A first frame that is not zero marks the beginning of the signal.
      for n in clip.channels.indices { clip.channels[n].insert(0.001, at: 0) }
      let input = home.folder.path + "/marked.wav"
      try clip.write(wav: input)
      let rendered = try render(input, period: period)
      let captured = try graph.capture(clip.channels)
      for (a, b) in zip(rendered.channels, captured) {
        #expect(differences(a, b) == 0, "\(errorLevel(b, a)) dB apart")
      }
    }

    @Test("a file with the wrong number of channels is refused in one sentence, and nothing is written")
    func wrongChannels() throws {
      let (input, output) = (home.folder.path + "/three.wav", home.folder.path + "/out.wav")
      var noise = SeededNoise(seed: 3)
      try AudioClip(sampleRate: 48000, channels: (0..<3).map { _ in noise.samples(4800) }).write(wav: input)
      let before = try FileManager.default.contentsOfDirectory(atPath: home.folder.path)
      let outcome = try home.pinna("render", "--force", "--preset", "phone5", input, output)
      #expect(outcome.status == 1)
      #expect(outcome.isOneSentence, "\(outcome)")
      #expect(outcome.error.contains(" 3 channels") && outcome.error.contains(" 5 microphones"))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: home.folder.path).sorted() == before.sorted())
    }
  }
}
