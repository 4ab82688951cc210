import AudioFiles
import Foundation
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  /// On a disk that delays the conversion.
  @Suite(
    "Takes that are being converted",
    .enabled(if: Preload.compiler != nil, "there is no C compiler for the slow disk"))
  struct ConversionTests {
    /// A graph in which a take has ended and is in the middle of its conversion.
    func converting(_ format: String) throws -> (graph: OfflineGraph, path: String) {
      let home = try PinnaHome()
      let disk = try SlowDisk(home: home, files: ".\(format).part")
      let graph = try OfflineGraph(
        preset: "phone5", period: 1024, home: home, environment: disk.environment)
      let path = try graph.startTake("--format", format, frames: 72_000)
      try disk.delay(seconds: 3)
      try graph.sender().send("/pinna/record/stop")
      try #require(waitUntil(seconds: 5) { disk.hasBegun })
      return (graph, path)
    }

    func stem(_ path: String) -> String { URL(filePath: path).deletingPathExtension().path }

    @Test(
      "R6: SIGKILL during conversion leaves whole WAV files that strict readers open, and repair finishes them",
      arguments: ["flac", "opus"])
    func killed(format: String) throws {
      let (graph, path) = try converting(format)
      graph.program.signal(SIGKILL)
      #expect(graph.program.wait(seconds: 5)?.status == -SIGKILL)
      let files = ["", "-microphones"].map { "\(stem(path))\($0).wav" }
      let frames = try AudioClip(path: files[0]).frames
      #expect(frames > 48_000)
      for file in files {
        #expect(try TakeFiles.complaints(file) == [])
        #expect(try AudioClip(path: file).frames == frames)
      }
      let repaired = try graph.pinna("takes", "repair", "--json").json()["repaired"] as? [[String: Any]]
      #expect(repaired?.map { $0["frames"] as? Int } == [frames])
      let document = try Sidecar.read(stem(path) + ".json")
      #expect(document.state == .repaired && document.frames == frames)
      // The two sound files and the sidecar; no partially converted file.
      #expect(try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder).count == 3)
      Faults.report(
        "R6", done: "pinna killed while a take became \(format): of its frames lost", measured: "0",
        limit: "0", kept: document.frames == frames)
    }

    @Test(
      "R4: a server that dies during conversion does not disturb it: the converted take is whole", .long,
      arguments: ["flac", "opus"])
    func serverDied(format: String) throws {
      let (graph, path) = try converting(format)
      try graph.killServer()
      // The disk takes 3 s.
      try #require(waitUntil(seconds: 60) { FileManager.default.fileExists(atPath: stem(path) + ".json") })
      let document = try Sidecar.read(stem(path) + ".json")
      #expect(document.state == .complete && document.frames > 48_000)
      #expect(document.notes.contains { $0.contains("WAV") } == (format == "opus"))
      let folder = URL(filePath: path).deletingLastPathComponent().path
      let files = try #require(document.files.first)
      for name in files.names {
        let file = "\(folder)/\(name)"
        let isLossless = format == "opus" && name == files.microphones
        #expect(name.hasSuffix(isLossless ? ".wav" : ".\(format)"), "\(document.notes)")
        #expect(try AudioClip(path: file).frames == document.frames)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
      #expect(try graph.pinna("stop").status == 0)
    }
  }
}
