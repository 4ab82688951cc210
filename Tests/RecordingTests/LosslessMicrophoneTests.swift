import Acoustics
import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// What a compressed file must keep before the WAV file goes.
@Suite("Compressed files keep every channel") struct LosslessMicrophoneTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func write(_ channels: [[Float]], areMicrophones: Bool = false) throws -> String {
    let path = folder.path + "/a.wav"
    try AudioClip(sampleRate: 48000, channels: channels).write(wav: path, areMicrophones: areMicrophones)
    return path
  }

  private static func noise(_ channels: Int, frames: Int = 48_000) -> [[Float]] {
    return SeededNoise.channels(channels, frames, amplitude: 0.2, seed: 2)
  }

  @Test("Opus takes no microphones, and no more than two channels of anything", arguments: 1...9)
  func opus(channels: Int) throws {
    let path = try write(Self.noise(channels))
    #expect(Compression.opus.obstacle(channels: channels, sampleRate: 48000, areMicrophones: true) != nil)
    #expect((Compression.opus.obstacle(channels: channels, sampleRate: 48000) == nil) == (channels <= 2))
    #expect(throws: AudioFileError.self) { try Compression.opus.replace(wav: path, areMicrophones: true) }
    if channels > 2 { #expect(throws: AudioFileError.self) { try Compression.opus.replace(wav: path) } }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.wav"])
    #expect(throws: AudioFileError.self) {
      try AudioClip(path: path).write(folder.path + "/b.opus", areMicrophones: true)
    }
  }

  @Test("FLAC takes the rates that it can say, and others are refused before anything is written")
  func rates() throws {
    for rate in [8000, 44_101, 65_535, 65_540, 88_200, 95_910, 96_000, 176_400, 192_000, 384_000, 655_350] {
      let path = folder.path + "/a.wav"
      try AudioClip(sampleRate: rate, channels: Self.noise(2, frames: 500)).write(wav: path)
      #expect(Compression.flac.obstacle(channels: 2, sampleRate: rate) == nil)
      let flac = try Compression.flac.replace(wav: path)
      #expect(try AudioFileReader(path: flac).sampleRate == rate)
      try FileManager.default.removeItem(atPath: flac)
    }
    for rate in [65_536, 88_201, 88_112, 95_904, 96_096, 655_360, 768_000] {
      let clip = AudioClip(sampleRate: rate, channels: Self.noise(2, frames: 500))
      let error = #expect(throws: AudioFileError.self) { try clip.write(folder.path + "/b.flac") }
      #expect(error?.description.contains("\(rate) Hz; give a name that ends in .wav") == true)
      let take = TakePlan(
        outputs: 2, sampleRate: rate, options: Self.flac, setup: TakeWriterTests.setup,
        preRoll: PreRoll(microphones: 3, capacityFrames: 0))
      #expect(take.convertedFormat == nil && take.conversionObstacle?.contains("\(rate) Hz") == true)
      #expect(take.microphonesObstacle?.contains("\(rate) Hz") == true)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  private static let flac: TakeOptions = {
    var options = TakeOptions()
    (options.raw, options.format) = (true, .flac)
    return options
  }()

  @Test("a lossy file that lacks a band of one channel is refused, and the WAV file stays")
  func bands() throws {
    // An encoder for 20 kHz leaves nothing of 22 kHz; noise, speech's bands and silence pass.
    let tone = (0..<48_000).map { Float(0.3 * sin(2 * Double.pi * 22_500 * Double($0) / 48_000)) }
    for other in [tone, Self.noise(2)[1].enumerated().map { $0 < 24_000 ? 0 : $1 }] {
      let path = try write([Self.noise(1)[0], other])
      let isTone = other == tone
      if isTone {
        let error = #expect(throws: AudioFileError.self) { try Compression.opus.replace(wav: path) }
        #expect(error?.description.contains("channel 2") == true, "\(error as Any)")
      } else {
        _ = try Compression.opus.replace(wav: path)
      }
      #expect(access(path, F_OK) == (isTone ? 0 : -1))
    }
  }

  @Test(
    "an offset, or a slow ramp, beside which an encoder's noise is not heard, is no lack",
    arguments: [0.004, 0.01, 0.1, 0.5])
  func offset(level: Float) throws {
    let ramp = (0..<96_000).map { level + Float($0) / 8_388_608 }
    let path = try write([ramp, [Float](repeating: level, count: ramp.count)])
    _ = try Compression.opus.replace(wav: path)
    #expect(access(path, F_OK) == -1)
  }

  @Test("FLAC of microphones is theirs bit for bit, and names no loudspeakers", arguments: [1, 2, 4, 6, 8])
  func flac(channels: Int) throws {
    let path = folder.path + "/a.wav"
    let writer = try AudioFileWriter(
      path: path, encoding: .pcm24, channels: channels, sampleRate: 48000, areMicrophones: true,
      broadcast: BroadcastExtension(
        description: "ring microphones, recorded by pinna", date: "2026-11-28", time: "01:02:03",
        timeReference: 178_747_264))
    let noise = Self.noise(channels)
    for n in 0..<noise[0].count { try writer.write(noise.map { $0[n] }) }
    try writer.close()
    let before = try AudioClip(path: path).channels
    let labels = SoundLabels(
      title: "T", trackNames: (0..<channels).map { "mic-\($0)" },
      cues: [WAVCue(frame: 47, label: "a"), WAVCue(frame: 47_999, label: "b = c")])
    let name = try Compression.flac.replace(wav: path, labels: labels, areMicrophones: true)
    #expect(try AudioClip(path: name).channels == before)
    let said = try #require(AudioFileReader(path: name).broadcast)
    #expect(said.timeReference == 178_747_264 && said.date == "2026-11-28" && said.time == "01:02:03")
    let text = String(decoding: try Data(contentsOf: URL(filePath: name)).prefix(8000), as: UTF8.self)
    for line in [
      "WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x0", "TRACK_NAME_\(channels)=mic-\(channels - 1)", "TITLE=T",
      "CHAPTER001NAME=b = c", "CHAPTER001FRAME=47999", "CHAPTER001=00:00:01.000",
    ] { #expect(text.contains(line), "\(line)") }
    // A recording keeps its name for itself.
    #expect(throws: AudioFileError.self) { try OutputFile(name, replacing: true) }
    if access("/usr/bin/ffmpeg", X_OK) == 0 {
      let outcome = try Program.run("/usr/bin/ffmpeg", ["-v", "error", "-i", name, "-f", "null", "-"])
      #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
    }
  }
}

/// The array that a sidecar holds.
@Suite("Recorded arrays") struct RecordedDeviceTests {
  static let devices: [Device] = {
    let head = Direction([1, 2, 3])!
    let front = DataSource(
      name: "Front", id: 7, location: .upper, orientation: .front, forward: head, microphones: [1, 0],
      polarPatterns: [.omnidirectional, .stereo], stereoOrientations: [.portrait])
    func microphones(_ scale: Double) -> [Microphone] {
      [
        Microphone(
          name: "a", position: scale * [1, 0, 0],
          deviation: Deviation(gain: Decibels(1.1), delay: 3.3e-6, isInverted: true), channel: 3),
        Microphone(name: "b", position: scale * [0, 0, -1]),
      ]
    }
    let third = 1.0 / 3
    let bodies: [(Body, [Microphone])] = [
      (.sphere(radius: third), microphones(third)), (.cylinder(radius: third), microphones(third)),
      (.box(size: [2 * 0.07, 0.1, 2 * 0.07]), microphones(0.07)),
      (
        .free,
        microphones(third).map {
          Microphone(
            name: $0.name, position: $0.position, capsule: Capsule(omnidirectionalPart: third, facing: head))
        }
      ),
      (.measured(.sofa(path: "/x/a.sofa")), microphones(third)),
      (.measured(.impulseResponses(path: "/x/a.wav", directions: "/x/d.csv")), microphones(third)),
    ]
    return bodies.map { body, microphones in
      try! Device(
        name: "d", title: "T", body: body, placement: .worn, microphones: microphones, dataSources: [front],
        hrtf: "/x/head.sofa"
      ).with(
        calibration: Calibration(
          deviations: ["b": Deviation(gain: Decibels(-0.7), delay: third * 1e-5)], date: "2026-11-28",
          method: "m", source: .file))
    }
  }()

  @Test("every body and capsule comes back out of JSON bit for bit, and is said to be the same")
  func roundTrip() throws {
    for device in Self.devices {
      let recorded = RecordedDevice(device) { "digest of \($0)" }
      let bytes = try JSONEncoder().encode(recorded)
      let read = try JSONDecoder().decode(RecordedDevice.self, from: bytes)
      #expect(read == recorded && read.isSame(as: recorded))
      let back = try read.device(named: "d") { file in
        #expect(file.digest == "digest of \(file.path)")
        return file.path
      }
      #expect(back == device)
      for (a, b) in zip(back.microphones, device.microphones) {
        #expect((0..<3).allSatisfy { a.position[$0].bitPattern == b.position[$0].bitPattern })
      }
    }
    #expect(
      !RecordedDevice(Self.devices[0]) { _ in nil }.isSame(as: RecordedDevice(Self.devices[1]) { _ in nil }))
  }

  @Test("a forged array is refused")
  func forged() throws {
    let text = String(
      decoding: try JSONEncoder().encode(RecordedDevice(Self.devices[0]) { _ in "x" }), as: UTF8.self)
    for (old, new) in [
      ("\"radius\":0.333", "\"radius\":1e300"), ("\"kind\":\"sphere\"", "\"kind\":\"box\""),
      ("\"microphones\":[1,0]", "\"microphones\":[1,9223372036854775807]"),
      ("\"polarPatterns\":[", "\"polarPatterns\":[\"ambix4\","), ("\"gain\":1.1", "\"gain\":1e300"),
      ("\"name\":\"b\"", "\"name\":\"a\""), ("\"channel\":3", "\"channel\":-3"),
    ] {
      #expect(text.contains(old), "\(old) in \(text)")
      let forged = text.replacing(old, with: new)
      #expect(throws: (any Error).self, "\(new)") {
        try JSONDecoder().decode(RecordedDevice.self, from: Data(forged.utf8)).device(named: "d") { $0.path }
      }
    }
  }
}
