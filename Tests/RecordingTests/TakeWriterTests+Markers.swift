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

  @Test("of two edits at once, both stay")
  mutating func editsAtOnce() throws {
    let writer = try writer { _ in }
    try begin(writer, periods: 61)
    let result = try end(writer)
    let name = URL(filePath: result.path).lastPathComponent
    let takes = TakeFolder(path: TakeFolder.resolve(folder.path))
    for n in 0..<20 {
      let edits: [TakeEdit] = [.title("t\(n)"), .marker(seconds: 0.01, label: "m\(n)")]
      DispatchQueue.concurrentPerform(iterations: 2) { _ = try? takes.edit(name, [edits[$0]]) }
      let written = try sidecar(result)
      #expect(written.title == "t\(n)" && written.markers?.map(\.label) == ["m\(n)"], "\(n)")
    }
  }

  @Test("each file of a split take has the cues that are within it, counted from its first frame")
  mutating func markersOfSegments() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    _ = writer.mark("one")
    run.process(Self.period, timing: .stall(90 * 48_000))
    for _ in 0..<130 { run.process(Self.period) }
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
    run.process(Self.period, timing: .stall(1000))
    #expect(writer.mark("late").frame == 4 * Self.period + 1000)
    _ = try end(writer)
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let count = UInt32(content.count)
    return Array(name.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + content
      + [UInt8](repeating: 0, count: content.count % 2)
  }

  /// What stands behind the sound, and what of it stays.
  private static let behind: [(name: String, sound: Int, other: [UInt8], kept: [UInt8])] = {
    let list = chunk("LIST", Array("INFOINAM".utf8) + [4, 0, 0, 0] + Array("old".utf8) + [0])
    let known = chunk("id3 ", Array(repeating: 7, count: 28)) + chunk("_PMX", Array("<x/>  ".utf8))
    let stray: [UInt8] = [0, 0x6E, 0, 0x69, 0, 0, 0, 0]
    // Its length makes what a reader finds one byte too late look like a name.
    let long = chunk("LIST", Array("abcd".utf8) + [UInt8](repeating: 65, count: 0x34 - 4))
    return [
      ("nothing", 300, [], []), ("nothing but padding", 301, [0], []),
      ("known chunks", 301, [0] + list + known, known),
      ("a chunk of no possible name", 300, list + stray + known, stray + known),
      ("the same, behind padding", 301, [0] + list + stray + known, stray + known),
      ("half a head", 300, list + known + [1, 2, 3], known + [1, 2, 3]),
      ("no padding", 301, known, known), ("no padding, a title", 301, list + known, known),
      ("no padding, a list", 301, long + known, long + known),
      ("no padding, stray", 301, known + stray + long, known + stray + long),
      ("zeros", 300, list + [UInt8](repeating: 0, count: 40), [UInt8](repeating: 0, count: 40)),
    ]
  }()

  @Test("an edit keeps every byte behind the sound that is no title and no marker, or leaves the file alone")
  func foreignChunks() throws {
    let format: [UInt8] = [1, 0, 1, 0, 0x80, 0xBB, 0, 0, 0x80, 0xBB, 0, 0, 1, 0, 8, 0]
    func file(_ sound: Int, _ other: [UInt8]) -> [UInt8] {
      let data = Self.chunk("data", (0..<sound).map { UInt8(128 + $0 % 50) }).prefix(8 + sound)
      return Self.chunk("RIFF", Array("WAVE".utf8) + Self.chunk("fmt ", format) + data + other).prefix(
        44 + sound + other.count
      ).map { $0 }
    }
    let (path, open) = (folder.path + "/a.wav", try #require(OpenFolder(path: folder.path)))
    func replace(_ cues: [WAVCue], _ title: String) -> Bool {
      WAVCues.replace(in: "a.wav", of: open, cues, title: title)
    }
    for (name, sound, other, kept) in Self.behind {
      try folder.write(Data(file(sound, other)), to: "a.wav")
      for (cues, text) in [([WAVCue(frame: 3, label: "three")], "new"), ([], "new"), ([], "")] {
        #expect(replace(cues, text), "\(name)")
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        #expect(bytes[8..<44 + sound] == file(sound, [])[8..<44 + sound], "\(name)")
        #expect(bytes.suffix(kept.count) == kept[...], "\(name)")
        #expect(bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) } == bytes.count - 8, "\(name)")
        #expect(try self.cues(path) == cues && title(path) == (text.isEmpty ? nil : text), "\(name)")
        let reader = try AudioFileReader(path: path)
        #expect(try reader.read(frames: 1000).count == sound && reader.headerRemark == nil, "\(name)")
        let more = bytes.count - (44 + sound + sound % 2 + kept.count)
        #expect(!text.isEmpty || [0, 8].contains(more), "\(name)")
      }
    }
    // Behind sound of this length, this could be sound, too.
    let unclear = file(300, [0, 0x6E, 0, 0x69, 0, 0, 0, 0] + Self.chunk("id3 ", [1, 2, 3, 4]))
    try folder.write(Data(unclear), to: "a.wav")
    #expect(!replace([], "new"))
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == unclear)
  }
}
