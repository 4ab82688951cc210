import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// Markers and titles, which may be set while a take runs.
extension TakeWriterTests {
  /// The cues of a WAV file, read chunk by chunk.
  private func cues(_ path: String) throws -> [WAVCue] {
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) } }
    var (frames, labels): ([Int: Int], [Int: String]) = ([:], [:])
    var at = 12
    #expect(number(4) + 8 == bytes.count)
    while at + 8 <= bytes.count {
      let (name, size) = (String(decoding: bytes[at..<at + 4], as: UTF8.self), number(at + 4))
      if name == "cue " {
        for n in 0..<number(at + 8) { frames[number(at + 12 + 24 * n)] = number(at + 16 + 24 * n) }
      } else if name == "LIST", bytes[(at + 8)...].starts(with: "adtl".utf8) {
        var label = at + 12
        while label < at + 8 + size {
          let text = bytes[label + 12..<label + 8 + number(label + 4)].prefix { $0 != 0 }
          labels[number(label + 8)] = String(decoding: text, as: UTF8.self)
          label += 8 + (number(label + 4) + 1) / 2 * 2
        }
      }
      at += 8 + (size + 1) / 2 * 2
    }
    return frames.sorted { $0.key < $1.key }.map { WAVCue(frame: $0.value, label: labels[$0.key] ?? "") }
  }

  @Test(
    "markers and title stand in the sidecar, and markers as cues of both WAV files, whose sound stays as it was",
    arguments: [TakeFormat.float, .pcm24])
  mutating func markers(format: TakeFormat) throws {
    let writer = try writer {
      $0.raw = true
      $0.format = format
    }
    for _ in 0..<12 { run.process(Self.period) }
    try begin(writer, periods: 40)
    let first = writer.mark("Erster Akt, ö")
    writer.title = "Probe"
    for _ in 0..<21 { run.process(Self.period) }
    let second = writer.mark("2")
    let result = try end(writer)
    // After a pre-roll of ten periods.
    #expect([first, second].map(\.frame) == [50 * Self.period, 71 * Self.period])
    let written = try sidecar(result)
    #expect(written.title == "Probe" && written.markers == [first, second] && written.missing.isEmpty)
    let microphones = result.path.replacing(".wav", with: "-microphones.wav")
    for path in [result.path, microphones] {
      let found = try cues(path)
      #expect(found == [first, second].map { WAVCue(frame: $0.frame, label: $0.label) }, "\(found)")
      #expect(try AudioFileReader(path: path).frames == result.frames)
    }
  }

  @Test("a title that becomes empty is removed from the sidecar")
  mutating func emptyTitle() throws {
    let writer = try writer()
    writer.title = "Probe"
    // The disk thread takes the title up before it writes a frame.
    try begin(writer, periods: 3)
    writer.title = ""
    let result = try end(writer)
    #expect(try sidecar(result).title == nil)
  }

  /// The title in a WAV file's chunk `LIST INFO`.
  private func title(_ path: String) throws -> String? {
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    guard let at = bytes.firstRange(of: Array("INFOINAM".utf8))?.upperBound else { return nil }
    return String(decoding: bytes[(at + 4)...].prefix { $0 != 0 }, as: UTF8.self)
  }

  @Test(
    "an edit after the take changes title and markers in sidecar and WAV files, and no sample; what Pinna wrote stays",
    arguments: [TakeFormat.float, .pcm24])
  mutating func edit(format: TakeFormat) throws {
    let writer = try writer {
      $0.raw = true
      $0.format = format
    }
    try begin(writer, periods: 61)
    let first = writer.mark("one")
    writer.title = "Probe"
    let result = try end(writer)
    let microphones = result.path.replacing(".wav", with: "-microphones.wav")
    let paths = [result.path, microphones]
    for path in paths { #expect(try title(path) == "Probe") }
    let before = try paths.map { try AudioClip(path: $0).channels }
    let privates = try paths.map { try AudioFileReader(path: $0).privateChunk }
    #expect((privates[1] != nil) == (format == .float))
    let takes = TakeFolder(path: TakeFolder.resolve(folder.path))
    let name = URL(filePath: result.path).lastPathComponent
    let place = Double(first.frame) / 48_000
    let texts: [(String, [TakeEdit], String?, [String])] = [
      (name, [.title("Erster Akt, ö")], "Erster Akt, ö", ["one"]),
      (name, [.marker(seconds: 0.01, label: "zero")], "Erster Akt, ö", ["zero", "one"]),
      (
        name.replacing(".wav", with: "-microphones.wav"), [.marker(seconds: place, label: "eins")],
        "Erster Akt, ö", ["zero", "eins"]
      ),
      (
        name.replacing(".wav", with: ".json"), [.title(""), .marker(seconds: 0.01, label: "")], nil, ["eins"]
      ),
      (name, [.marker(seconds: place, label: "")], nil, []),
    ]
    for (name, edits, expected, labels) in texts {
      let edited = try takes.edit(name, edits)
      #expect(edited.unchanged.isEmpty && edited.sidecar.title == expected)
      let written = try sidecar(result)
      #expect(written == edited.sidecar && written.markers ?? [] == edited.sidecar.markers ?? [])
      for path in paths {
        #expect(try cues(path).map(\.label) == labels && title(path) == expected)
        #expect(try AudioFileReader(path: path).frames == result.frames)
      }
    }
    #expect(try paths.map { try AudioClip(path: $0).channels } == before)
    #expect(try paths.map { try AudioFileReader(path: $0).privateChunk } == privates)
    for edit in [
      TakeEdit.marker(seconds: 1e6, label: "late"), .marker(seconds: 0, label: ""), .title("a\nb"),
    ] {
      #expect(throws: TakeError.self) { try takes.edit(name, [edit]) }
    }
    #expect(throws: TakeError.self) { try takes.edit("../" + name, [.title("x")]) }
    #expect(throws: TakeError.self) { try takes.edit("nosuch.wav", [.title("x")]) }
  }

  @Test("each file of a split take has the cues that are within it, counted from its first frame")
  mutating func markersOfSegments() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    _ = writer.mark("one")
    var stall = Timing()
    stall.skippedFrames = 90 * 48_000
    run.process(Self.period, timing: stall)
    try #require(waitUntil(seconds: 10) { writer.frames > 90 * 48_000 })
    let second = writer.mark("two")
    let result = try end(writer)
    let files = result.sidecar.files
    try #require(files.count == 2)
    let folder = (result.path as NSString).deletingLastPathComponent
    #expect(try cues("\(folder)/\(files[0].first)").map(\.label) == ["one"])
    #expect(
      try cues("\(folder)/\(files[1].first)") == [
        WAVCue(frame: second.frame - files[1].frame, label: "two")
      ])
  }

  @Test(
    "R6: repair of a take that was killed between its cues and its name has its sound, and no sample more")
  mutating func repairWithCues() throws {
    let writer = try writer()
    try begin(writer, periods: 40)
    for n in 1...50 { _ = writer.mark("\(n)") }
    let result = try end(writer)
    let sound = try AudioFileReader(path: result.path).frames
    // As it was before its last step.
    let sidecar = result.path.replacing(".wav", with: ".json")
    for path in [result.path, sidecar] {
      try FileManager.default.moveItem(atPath: path, toPath: path + ".part")
    }
    let unfinished = try UnfinishedWAVFile(path: result.path)
    #expect(unfinished.frames == sound)
    try unfinished.finish(frames: unfinished.frames)
    #expect(try AudioFileReader(path: result.path).frames == sound && cues(result.path) == [])
  }

  @Test("a marker counts frames that are not on disk yet, and lost ones")
  mutating func markerBeforeDisk() throws {
    let writer = try writer()
    try begin(writer, periods: 3)
    let ring = try #require(writer.ring)
    #expect(ring.frames == 3 * Self.period)
    var stall = Timing()
    stall.skippedFrames = 1000
    run.process(Self.period, timing: stall)
    #expect(writer.mark("late").frame == 4 * Self.period + 1000)
    _ = try end(writer)
  }
}
