import AudioFiles
import Foundation
import LiveSupport
import Recording
import Synchronization
import TestSupport
import Testing

extension TakeWriterTests {
  @Test("many repairs of one folder at once finish each take once, and none reports a fault")
  mutating func repairsAtOnce() throws {
    for n in 0..<12 {
      let result = try take(try writer(), periods: 2)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where !name.hasSuffix(".part") {
        let path = folder.path + "/" + name
        // Every third take has lost its sidecar.
        if n % 3 == 2, name.hasSuffix(".json") {
          try FileManager.default.removeItem(atPath: path)
        } else {
          try FileManager.default.moveItem(atPath: path, toPath: path + ".part")
        }
      }
      #expect(result.fault == nil)
    }
    let path = folder.path
    let found = Mutex<[RepairedTake]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      let repaired = TakeFolder(path: path).repair()
      found.withLock { $0 += repaired }
    }
    let all = found.withLock { $0 }
    #expect(all.compactMap(\.fault) == [])
    // A take without its sidecar is two files.
    #expect(all.count == 8 + 2 * 4 && Set(all.map(\.path)).count == all.count, "\(all.map(\.path))")
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    #expect(names.count == 12 * 3 - 4 && !names.contains { $0.hasSuffix(".part") }, "\(names)")
  }

  @Test(
    "R6: a take cut off during its conversion is listed, and repair finishes it with the new file names")
  mutating func repairConverted() throws {
    let result = try take(try writer { $0.format = .pcm24 }, periods: 20)
    let json = result.path.replacing(".wav", with: ".json")
    try FileManager.default.moveItem(atPath: json, toPath: json + ".part")
    _ = try Compression.flac.replace(wav: result.path)
    try folder.write(
      "half",
      to: URL(filePath: result.path).lastPathComponent.replacing(".wav", with: "-microphones.flac.part"))
    let flac = result.path.replacing(".wav", with: ".flac")
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map { [$0.path, $0.state.rawValue] } == [[flac, "cut"]])
    let repaired = takes.repair()
    #expect(repaired.map(\.fault) == [nil] && repaired.map(\.path) == [flac])
    #expect(repaired.map(\.frames) == [result.frames])
    let files = try #require(try Sidecar.read(json).files.first)
    #expect(
      files.outputs?.hasSuffix("-1.flac") == true
        && files.microphones?.hasSuffix("-1-microphones.wav") == true)
    #expect(takes.takes().map(\.path) == [flac] && takes.repair().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
  }

  @Test(
    "R6: repair ignores a sidecar that names files outside its folder", arguments: ["../x.wav", "a/x.wav"])
  mutating func namesOutside(name: String) throws {
    let result = try take(try writer(), periods: 2)
    let json = result.path.replacing(".wav", with: ".json")
    let text = try String(contentsOfFile: json, encoding: .utf8)
    let own = URL(filePath: result.path).lastPathComponent
    let below = folder.path + "/takes"
    for place in ["x.wav.part", "takes/a/x.wav.part"] {
      try folder.write(Data(contentsOf: URL(filePath: result.path)), to: place)
    }
    try folder.write(text.replacing("\"\(own)\"", with: "\"\(name)\""), to: "takes/x.json.part")
    #expect(try String(contentsOfFile: below + "/x.json.part", encoding: .utf8).contains(name))
    #expect(TakeFolder(path: below).repair().isEmpty && TakeFolder(path: below).takes().isEmpty)
    for place in [folder.path, below + "/a"] { #expect(access(place + "/x.wav.part", F_OK) == 0) }
  }
}
