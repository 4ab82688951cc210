import AudioFiles
import Foundation
import TestSupport
import Testing

@Suite("pinna takes") struct TakesVerbTests {
  @Test("takes reports an unreadable sidecar in one sentence with status 1 and what to do")
  func unreadable() throws {
    let home = try VerbHome()
    let takes = home.path + "/takes"
    try home.home.folder.write("RIFF", to: "takes/a.wav")
    try home.home.folder.write("{", to: "takes/a.json")
    try home.home.folder.write("RIFF", to: "takes/b.wav.part")
    try home.home.folder.write("{", to: "takes/b.json.part")
    let list = try home.pinna("takes", "list", "--dir", takes)
    let lines = list.error.split(separator: "\n")
    #expect(list.status == 1 && list.output.isEmpty && lines.count == 2, "\(list)")
    for (line, name) in zip(lines, ["a.json", "b.json.part"]) {
      #expect(
        line.hasPrefix("pinna: \(takes)/\(name) is not a take's sidecar") && line.contains("move it away"))
    }
    let repair = try home.pinna("takes", "repair", "--dir", takes)
    #expect(
      repair.status == 1 && repair.error.contains("\(takes)/b.json.part is not a take's sidecar"), "\(repair)"
    )
    #expect(repair.isOneSentence && repair.error.contains("could not be repaired"), "\(repair)")
    let contents = home.contents("takes")
    #expect(contents == ["a.json", "a.wav", "b.json.part", "b.wav.part"])
  }

  @Test("takes list ends with the command that finishes takes that were cut off")
  func cut() throws {
    let home = try VerbHome()
    let takes = home.path + "/takes"
    try FileManager.default.createDirectory(atPath: takes, withIntermediateDirectories: false)
    let sound = AudioClip(sampleRate: 48000, channels: [[Float](repeating: 0.1, count: 480)])
    try sound.write(wav: takes + "/a.wav")
    let whole = try home.pinna("takes", "list", "--dir", takes)
    #expect(!whole.output.contains("takes repair"), "\(whole)")
    try FileManager.default.moveItem(atPath: takes + "/a.wav", toPath: takes + "/b.wav.part")
    let list = try home.pinna("takes", "list", "--dir", takes)
    let lines = list.output.split(separator: "\n")
    #expect(list.status == 0 && lines.count == 2 && lines[0].contains("cut"), "\(list)")
    #expect(lines.last == "1 take was cut off; finish it with: pinna takes repair --dir \(takes)", "\(list)")
    let repair = try home.pinna("takes", "repair", "--dir", takes)
    #expect(repair.status == 0)
    let after = try home.pinna("takes", "list", "--dir", takes)
    #expect(!after.output.contains("takes repair"), "\(after)")
    let json = try home.pinna("takes", "list", "--dir", takes, "--json")
    #expect(!json.output.contains("takes repair"), "\(json)")
  }

  @Test("playing a missing file is refused, whatever a running Pinna does")
  func playNothing() throws {
    let home = try VerbHome()
    for name in ["nosuch.wav", home.path + "/nosuch.wav", home.path] {
      let play = try home.pinna("play", name)
      #expect(play.status == 1 && play.isOneSentence, "\(play)")
      #expect(play.error.contains(name) && play.error.contains("pinna takes list"), "\(play)")
    }
  }
}
