import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

/// `pinna talkers` of files.
@Suite("pinna talkers of files") struct TalkersVerbTests {
  let home: VerbHome

  init() throws {
    home = try VerbHome()
    var noise = SeededNoise(seed: 16)
    try home.writeTake("take", (0..<2).map { _ in noise.samples(144_000, amplitude: 0.1) }, [60_000, 84_000])
  }

  /// Changes the take's sidecar.
  private func edit(_ take: String = "take", _ change: (inout [String: Any]) -> Void) throws {
    let path = home.path + "/\(take).json"
    var sidecar =
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as! [String: Any]
    change(&sidecar)
    try JSONSerialization.data(withJSONObject: sidecar).write(to: URL(filePath: path))
  }

  private func list(_ take: String = "take") throws {
    try edit(take) { $0["talkers"] = "4800 3 41 -32 80; 67200 3 off 40 -30 75; 9600 4 -90 -40; 96000 4 off" }
  }

  @Test("a take's sidecar tells who spoke, by any of its files, to standard output and to a file that stays")
  func sidecar() throws {
    try list()
    for file in ["take-microphones.wav", "take_2-microphones.wav", "take.json"] {
      let outcome = try home.pinna(["talkers", home.path + "/" + file, "--seat", "anna=50", "--to", "labels"])
      #expect(outcome.output == "0.100000\t1.400000\tanna\n0.200000\t2.000000\ttalker 2\n", "\(outcome)")
    }
    let words = ["talkers", home.path + "/take.json", home.path + "/who.rttm", "--to", "rttm"]
    #expect(try home.pinna(words).status == 0)
    let file = try String(contentsOfFile: home.path + "/who.rttm", encoding: .utf8)
    #expect(file.hasPrefix("SPEAKER take 1 0.100 1.300 <NA> <NA> talker_1 0.75 <NA>\n"), "\(file)")
    let again = try home.pinna(words)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"))
    #expect(try home.pinna(words + ["--force"]).status == 0)
  }

  @Test("a take without talkers is searched in its microphones; one without both is refused in one sentence")
  func neither() throws {
    // Two different noises are nobody.
    let searched = try home.pinna(["talkers", home.path + "/take.json", "--to", "csv"])
    #expect(searched.status == 0, "\(searched)")
    #expect(searched.output == "begin,duration,name,azimuth,elevation,level,confidence\n")
    try edit { sidecar in
      sidecar["files"] = (sidecar["files"] as! [[String: Any]]).map { files in
        files.filter { $0.key != "microphones" }
      }
    }
    let outcome = try home.pinna(["talkers", home.path + "/take.json"])
    #expect(outcome.status == 1 && outcome.isOneSentence && outcome.error.contains("--raw"), "\(outcome)")
    try edit { $0["talkers"] = "nonsense" }
    let damaged = try home.pinna(["talkers", home.path + "/take.json"])
    #expect(damaged.status == 1 && damaged.isOneSentence && damaged.error.contains("damaged"), "\(damaged)")
  }

  @Test(
    "render --talkers writes a file as long as the take for each talker, silent where they are, and who spoke when"
  )
  func stems() throws {
    var noise = SeededNoise(seed: 17)
    try home.writeTake("one", (0..<2).map { _ in noise.samples(144_000, amplitude: 0.1) }, [144_000])
    try list("one")
    let words = ["render", home.path + "/one.json", "--talkers", "--into", home.path + "/who"]
    let outcome = try home.pinna(words)
    try #require(outcome.status == 0, "\(outcome)")
    #expect(Set(home.contents("who")) == ["one.rttm", "talker 1.wav", "talker 2.wav"])
    // Talker 1 speaks from 0.1 to 1.4 s, talker 2 from 0.2 to 2 s; a quarter of a second more passes.
    for (name, end) in [("talker 1", 1.4), ("talker 2", 2)] {
      let reader = try AudioFileReader(path: home.path + "/who/\(name).wav")
      let sound = try reader.read(frames: 144_001)
      #expect(sound.count == 144_000 * reader.channels)
      let last = Int((end + 0.25) * 48_000) * reader.channels
      #expect(sound[..<last].contains { $0 != 0 } && sound[last...].allSatisfy { $0 == 0 })
    }
    let rttm = try String(contentsOfFile: home.path + "/who/one.rttm", encoding: .utf8)
    #expect(rttm.split(separator: "\n").count == 2 && rttm.contains(" talker_2 "), "\(rttm)")
    let again = try home.pinna(words)
    #expect(again.status == 1 && again.isOneSentence && again.error.contains("--force"), "\(again)")
    let single = try home.pinna(["render", home.path + "/one.json", home.path + "/a.wav", "--talkers"])
    #expect(single.status == 2 && single.isOneSentence && single.error.contains("--into"), "\(single)")
  }

  @Test("what does not belong together is refused")
  func usage() throws {
    for words in [
      ["--to", "csv"], ["--seat", "a=1"], [home.path + "/take.json", "--follow"],
      [home.path + "/take.json", "--seat", "2=10"], [home.path + "/take.json", "--seat", "Whole=10"],
      [home.path + "/take.json", "--to", "srt"], [home.path + "/take.json", "--json", "--to", "csv"],
    ] {
      let outcome = try home.pinna(["talkers"] + words)
      #expect(outcome.status == 2 && outcome.isOneSentence, "\(outcome)")
    }
  }
}
