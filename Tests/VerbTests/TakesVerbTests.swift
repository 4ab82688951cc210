import Foundation
import TestSupport
import Testing

@Suite("pinna takes") struct TakesVerbTests {
  @Test("says in one sentence, with status 1, that a take's sidecar cannot be read, and what to do")
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
        line.hasPrefix("pinna: \(takes)/\(name) is no sidecar of a take") && line.contains("move it away"))
    }
    let repair = try home.pinna("takes", "repair", "--dir", takes)
    #expect(repair.status == 1 && repair.error.contains("\(takes)/b.json.part is no sidecar"), "\(repair)")
    #expect(repair.isOneSentence && repair.error.contains("could not be repaired"), "\(repair)")
    let contents = home.contents("takes")
    #expect(contents == ["a.json", "a.wav", "b.json.part", "b.wav.part"])
  }
}
