import AudioFiles
import Foundation
import LiveSupport
import TestSupport
import Testing

/// Recordings stay, whatever a verb is told to write.
@Suite("Files of takes are never replaced") struct TakeProtectionTests {
  let home: VerbHome

  init() throws {
    home = try VerbHome()
    var noise = SeededNoise(seed: 56)
    let sound = (0..<2).map { _ in noise.samples(4000, amplitude: 0.2) }
    for (stem, lengths) in [("one", [4000]), ("split", [1000, 3000]), ("two words", [4000])] {
      try home.writeTake("takes/" + stem, sound, lengths)
      for n in lengths.indices {
        try home.home.folder.write("outputs of \(stem)", to: "takes/\(stem)\(n == 0 ? "" : "_2").wav")
      }
    }
    // Renamed as a whole: the sidecar lists other names.
    for ending in [".wav", "-microphones.wav", ".json"] {
      let folder = home.path + "/takes/"
      #expect(rename(folder + "two words" + ending, folder + "May 1st" + ending) == 0)
    }
    // Cut off by a crash.
    try home.writeTake("takes/cut", sound, [4000])
    for name in ["cut-microphones.wav", "cut.json"] {
      let path = home.path + "/takes/" + name
      #expect(rename(path, path + ".part") == 0)
    }
    try AudioClip(sampleRate: 48000, channels: sound).write(wav: home.path + "/in.wav")
    try home.home.folder.write("feeds: {a: {polarPattern: omnidirectional}}\n", to: "f.yaml")
    try home.home.folder.write("- {at: 0.01, gain: -3}\n", to: "a.yaml")
    try home.home.folder.write(
      "title: t\ndevice: pair\ntalkers: [{voice: noise, direction: +z, seconds: 0.1}]\n", to: "s.yaml")
  }

  @Test("a take's file is refused with its take's name, another file without --force alone")
  func sentences() throws {
    for target in ["takes/one.wav", "takes/one-microphones.wav", "takes/May 1st.wav"] {
      for words in [[], ["--force"]] {
        let outcome = try home.shell(
          "$PINNA render --preset pair in.wav '\(target)' \(words.joined(separator: " "))")
        #expect(outcome.status == 1 && outcome.isOneSentence, "\(outcome)")
        #expect(outcome.error.contains("take") && outcome.error.contains("give another name"), "\(outcome)")
      }
    }
    let part = try home.shell("$PINNA render --force --preset pair in.wav takes/cut-microphones.wav")
    #expect(part.status == 1 && part.error.contains("pinna takes repair"), "\(part)")
    try home.home.folder.write("mine", to: "mine.wav")
    let mine = try home.shell("$PINNA render --preset pair in.wav mine.wav")
    #expect(mine.status == 1 && mine.error.contains("--force"), "\(mine)")
    #expect(try home.shell("$PINNA render --force --preset pair in.wav mine.wav").status == 0)
    // Beside a take, and of no take.
    let beside = "$PINNA render --force takes/one-microphones.wav takes/one-wide.wav"
    #expect(try home.shell("\(beside) && \(beside)").status == 0)
  }

  @Test("what a verb reads it does not write, under any name")
  func inputs() throws {
    symlink("in.wav", home.path + "/soft.wav")
    #expect(link(home.path + "/in.wav", home.path + "/hard.wav") == 0)
    let device = home.path + "/ring.yaml"
    #expect(try home.pinna("device", "new", "line", device, "--microphones", "2").status == 0)
    let files = ["in.wav", "f.yaml", "a.yaml", "ring.yaml"]
    let before = files.map { FileManager.default.contents(atPath: home.path + "/" + $0) }
    for line in [
      "render --force --preset pair in.wav in.wav", "render --force --preset pair in.wav hard.wav",
      "render --force --preset pair in.wav soft.wav", "render --force --preset pair - hard.wav <in.wav",
      "render --force --preset pair --automation a.yaml in.wav a.yaml",
      "render --force --device ./ring.yaml in.wav ring.yaml", "simulate --force s.yaml s.yaml",
    ] {
      let outcome = try home.shell("$PINNA \(line)")
      #expect([1, 2].contains(outcome.status) && outcome.isOneSentence, "\(line): \(outcome)")
    }
    #expect(files.map { FileManager.default.contents(atPath: home.path + "/" + $0) } == before)
  }
}
