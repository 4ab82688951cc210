import AudioFiles
import Foundation
import JackClient
import LiveSupport
import Recording
import TestSupport
import Testing

extension OfflineTests {
  @Suite("Options of takes") struct TakeOptionTests {
    func graph(_ options: String...) throws -> OfflineGraph {
      let graph = try OfflineGraph(preset: "phone5", period: 1024, options: options)
      try graph.playClock()
      return graph
    }

    func stop(_ graph: OfflineGraph) throws -> (path: String, document: Sidecar) {
      let stop = try graph.pinna("record", "stop", "--json")
      try #require(stop.status == 0, "\(stop)")
      let path = try #require(try stop.json()["take"] as? String)
      return (path, try Sidecar.read(path.replacing(/\.\w+$/, with: ".json")))
    }

    /// The number of frames from one time of the clock to a later one.
    func frames(from start: Int, to end: Int) -> Int { (end - start) & 0x7F_FFFF }

    @Test("--pre-roll begins a take that much earlier, but not before the last change")
    func preRoll() throws {
      let graph = try graph("--pre-roll", "2")
      // Longer than the pre-roll.
      try graph.wait(frames: 120_000)
      for isChanged in [false, true] {
        let changed = try graph.frame()
        if isChanged { try #require(try graph.pinna("set", "--gain", "-1").status == 0) }
        let asked = try graph.frame()
        _ = try graph.startTake()
        let began = try graph.frame()
        // The pre-roll, and 0.3 s.
        try graph.waitForTake(frames: isChanged ? 62_400 : 110_400)
        let take = try stop(graph)
        let raw = try TakeFiles.microphones(take.path).channels[0]
        let start = try #require(FrameClock.time(raw[0]))
        #expect(raw.count == take.document.frames)
        #expect(raw.indices.count { FrameClock.time(raw[$0]) != (start + $0) & 0x7F_FFFF } == 0)
        let before = take.document.preRollFrames
        let first = frames(from: asked, to: start + before)
        // The clock advances within the period that is played.
        #expect(first < frames(from: asked, to: began) + 2048, "\(first)")
        if isChanged {
          #expect(before < frames(from: changed, to: began) && frames(from: changed, to: start) < 48_000)
        } else {
          #expect(before == 96_000)
        }
      }
    }

    @Test("--split-size continues in another file, none larger than requested, without losing a frame")
    func split() throws {
      let graph = try graph()
      _ = try graph.startTake("--split-size", "1", frames: 168_000)
      let take = try stop(graph)
      let files = take.document.files
      #expect(files.count >= 3 && take.document.state == .complete)
      let folder = URL(filePath: take.path).deletingLastPathComponent().path
      var raw: [Float] = []
      for segment in files {
        #expect(segment.frame == raw.count)
        for name in segment.names {
          let path = "\(folder)/\(name)"
          let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
          #expect(try #require(size) <= 1_000_000)
          #expect(try TakeFiles.complaints(path) == [])
        }
        let clip = try AudioClip(path: "\(folder)/\(segment.microphones!)")
        #expect(try AudioClip(path: "\(folder)/\(segment.first)").frames == clip.frames)
        raw += clip.channels[0]
      }
      #expect(raw.count == take.document.frames)
      let start = try #require(FrameClock.time(raw[0]))
      #expect(raw.indices.count { FrameClock.time(raw[$0]) != (start + $0) & 0x7F_FFFF } == 0)
      #expect(try graph.pinna("takes", "list").output.contains("in \(files.count) files"))
    }

    @Test(
      "--format flac and opus say so at the start, and leave only files of that format, with every recorded frame; Opus leaves microphones as WAV",
      arguments: ["flac", "opus"])
    func compressed(format: String) throws {
      let graph = try graph()
      let start = try graph.pinna("record", "start", "--raw", "--format", format)
      #expect(start.output.contains(".wav (to be converted to \(format) at its end)"), "\(start)")
      try graph.waitForTake(frames: 72_000)
      let take = try stop(graph)
      let lossless = format == "opus" ? "wav" : format
      #expect(take.path.hasSuffix("." + format), "\(take.document.notes)")
      #expect(take.document.notes.contains { $0.contains("WAV") } == (format == "opus"))
      let names = try FileManager.default.contentsOfDirectory(atPath: graph.home.takesFolder)
      #expect(names.count == 3, "\(names)")
      let raw = try AudioClip(path: take.path.replacing("." + format, with: "-microphones." + lossless))
      #expect(try raw.frames == take.document.frames && AudioClip(path: take.path).frames == raw.frames)
      if format == "flac" {
        // The clock falls between two 24-bit values.
        let times = raw.channels[0].map { Int($0 * 8_388_608) }
        #expect(
          times.indices.count { !(0...2).contains(frames(from: times[0] - 1 + $0, to: times[$0])) } == 0)
      }
      let second = try graph.pinna("record", "start", "--format", format, "--json").json()
      let wav = try #require(second["take"] as? String)
      #expect(second["convertedTake"] as? String == wav.replacing(".wav", with: "." + format))
    }

    @Test("R9: a pre-roll or a ring shortened by the 256 MB limit is announced at the start")
    func cutShort() throws {
      let home = try PinnaHome()
      try home.folder.write(
        "title: Many\nbody: free\nmicrophones:\n"
          + (0..<48).map { "  m\($0): [\(10 * $0), 0, 0]\n" }.joined()
          + "dataSources:\n  Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}\n",
        to: "config/pinna/devices/many.yaml")
      try home.folder.write(
        "title: Many\ndevice: many\ndataSource: Front\npolarPattern: omnidirectional\ninputOrientation: portrait\n",
        to: "config/pinna/many.yaml")
      let graph = try OfflineGraph(
        preset: "many", sampleRate: 192_000, period: 4096, home: home,
        options: ["--pre-roll", "60"])
      // 256e6 / (50 × 4 bytes) = 1 280 000 frames, 6.7 s; 49 with the one output of a mono take: 6.8 s.
      #expect(
        graph.program.errorText.contains("--pre-roll: takes reach back 6.7 s, not 60 s"),
        "\(graph.program.errorText)")
      let raw = try graph.pinna("record", "start", "--raw")
      #expect(raw.status == 0 && raw.output.contains("for 6.8 s, not 8 s"), "\(raw)")
      #expect(try graph.pinna("record", "stop").status == 0)
      let short = try graph.pinna("record", "start")
      #expect(short.status == 0 && !short.output.contains("waited for"), "\(short)")
      #expect(try graph.pinna("record", "stop").status == 0)
    }
  }
}
