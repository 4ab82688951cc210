import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

/// Takes whose files are not as they were recorded, and sidecars that nobody recorded.
@Suite("Damaged and forged takes") struct DamagedTakeTests {
  let home: VerbHome
  let sound: [[Float]]

  init() throws {
    home = try VerbHome()
    var noise = SeededNoise(seed: 11)
    sound = (0..<2).map { _ in noise.samples(9000, amplitude: 0.2) }
    try home.writeTake("t/t", sound, [4000, 5000])
  }

  /// Puts `text` in place of another in the sidecar.
  private func forge(_ old: String, _ text: String) throws {
    let path = home.path + "/t/t.json"
    let whole = try String(contentsOfFile: path, encoding: .utf8)
    try #require(whole.contains(old))
    try whole.replacing(old, with: text, maxReplacements: 1).write(
      toFile: path, atomically: true, encoding: .utf8)
  }

  @Test(
    "absurd numbers in a sidecar are refused in a sentence, or do no harm; none ends render with a signal",
    .long)
  func numbers() throws {
    let whole = try String(contentsOfFile: home.path + "/t/t.json", encoding: .utf8)
    let numbers =
      ["9223372036854775807", "-1"]
      + (isNightly ? ["-9223372036854775808", "9007199254740992", "1e300", "0"] : [])
    let engine = #""preRollFrames": 0, "engine": {"frame": 1000, "instructionSet": "v3", "period": 256}"#
    var tried = 0
    for field in [
      #""preRollFrames": X"#, #""channels": X"#, #""sampleRate": X"#, #""frames": X, "sampleRate": 48000"#,
      #""gaps": [{"frame": X, "frames": 100, "cause": "stall"}]"#,
      #""gaps": [{"frame": 5, "frames": X, "cause": "stall"}, {"frame": 3, "frames": 9, "cause": "stall"}]"#,
      engine.replacing("1000", with: "X"), engine.replacing("256", with: "X"),
      #""gainDB": X"#, #""gainDB": -3, "roll": X"#, #""gainDB": -3, "yaw": X"#,
      #""gainDB": -3, "adaptation": X"#,
      #""highPassHz": X"#, #""frame": 4000, "frames": X"#, #""frame": X, "frames": 5000"#,
      #""gaps": [], "markers": [{"frame": X, "label": "a"}]"#,
      #""fallbacks": [{"frame": X, "without": ["left-end"]}]"#,
    ] {
      let key = String(field.dropFirst().prefix { $0 != "\"" })
      for number in numbers {
        let text = field.replacing("X", with: number)
        let pattern = try Regex(
          field.hasPrefix("\"frame\"")
            ? #""frame": 4000, "frames": 5000"#
            : field.hasSuffix("48000")
              ? #""frames": \d+,\s+"sampleRate": 48000"#
              : "\"\(key)\": (\\[[^\\]]*\\]|-?[0-9]+)")
        try whole.replacing(pattern, with: text, maxReplacements: 1).write(
          toFile: home.path + "/t/t.json", atomically: true, encoding: .utf8)
        for line in [
          "render --force t/t_2-microphones.wav o.wav", "render --force t/t.json --into into",
          "takes list --dir t",
        ] {
          let outcome = try home.shell("ulimit -v 4000000; $PINNA \(line)")
          #expect((0...7).contains(outcome.status), "\(text): \(line): \(outcome)")
          tried += 1
        }
      }
    }
    Faults.report(
      "R16", done: "\(tried) verbs on forged sidecars: ended by a signal", measured: "0", limit: "0",
      kept: true)
  }

  @Test("microphones that were cut are refused with status 7, alone and with --takes, and the list says so")
  func cut() throws {
    truncate(home.path + "/t/t_2-microphones.wav", 20_000)
    for line in ["render t/t_2-microphones.wav o.wav", "render t/t_2.wav o.wav --pattern omnidirectional"] {
      let outcome = try home.shell("$PINNA \(line)")
      #expect(outcome.status == 7 && outcome.isOneSentence, "\(outcome)")
      #expect(outcome.error.contains("t_2-microphones.wav") && outcome.error.contains("5000"), "\(outcome)")
    }
    let batch = try home.shell("$PINNA render --takes t --into o")
    #expect(batch.status == 7 && batch.output.contains("\"state\":\"failed\""), "\(batch)")
    #expect(home.contents("o") == [])
    for (name, frames) in [("t", 4000), ("t_2", 5000)] {
      try AudioClip(sampleRate: 48000, channels: sound.map { Array($0[..<frames]) }).write(
        wav: "\(home.path)/t/\(name).wav")
    }
    let list = try home.shell("$PINNA takes list --dir t --json")
    #expect(list.output.contains("\"incomplete\"") && !list.output.contains("\"complete\""), "\(list)")
  }

  @Test(
    "microphones that were exchanged are refused: other channels, another rate, and other sound of the same length"
  )
  func exchanged() throws {
    let path = home.path + "/t/t-microphones.wav"
    for (channels, rate, frames) in [(3, 48000, 4000), (2, 44100, 4000), (2, 48000, 4001)] {
      unlink(path)
      try AudioClip(
        sampleRate: rate, channels: (0..<channels).map { _ in [Float](repeating: 0.1, count: frames) }
      ).write(wav: path)
      let outcome = try home.shell("$PINNA render t/t-microphones.wav o.wav")
      #expect(outcome.status == 7 && outcome.isOneSentence, "\(outcome)")
    }
    // As a take that this Pinna recorded, which says what the sound was.
    unlink(path)
    try AudioClip(sampleRate: 48000, channels: sound.map { Array($0[..<4000]) }).write(wav: path)
    let sidecar = try Sidecar.read(home.path + "/t/t.json")
    #expect(sidecar.fault(ofMicrophonesIn: home.path + "/t/") == nil)
    try forge(
      #""microphones": "t-microphones.wav""#,
      #""microphones": "t-microphones.wav", "microphonesDigest": "0123456789abcdef""#)
    let outcome = try home.shell("$PINNA render t/t-microphones.wav o.wav")
    #expect(outcome.status == 7 && outcome.error.contains("is not the sound"), "\(outcome)")
    let batch = try home.shell("$PINNA render --takes t --into o")
    #expect(batch.status == 7 && batch.output.contains("is not the sound"), "\(batch)")
  }
}
