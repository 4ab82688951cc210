import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// Takes of several files, and files that the sidecar does not list yet.
extension TakeWriterTests {
  /// A running take that is split every minute and contains a stall of `minutes` and a half.
  mutating func stalledTake(minutes: Int, maximumSegments: Int = 10_000) throws -> TakeWriter {
    let writer = try writer {
      $0.splitMinutes = 1
      $0.maximumSegments = maximumSegments
    }
    try begin(writer, periods: 10)
    var stall = Timing()
    stall.skippedFrames = (2 * minutes + 1) * 30 * 48_000
    run.process(Self.period, timing: stall)
    return writer
  }

  @Test("a take has no more segments than a sidecar may list: the last one continues, and a note says so")
  mutating func maximumSegments() throws {
    let writer = try stalledTake(minutes: 6, maximumSegments: 4)
    let result = try end(writer)
    let files = result.sidecar.files
    #expect(files.count == 4 && result.frames == files.reduce(0) { $0 + $1.frames })
    #expect(files[2].frames == 60 * 48_000 && files[3].frames > 3 * 60 * 48_000)
    #expect(result.sidecar.notes.count == 1 && result.sidecar.notes[0].contains("at most 4 segments"))
    #expect(result.sidecar.missing.count == 1)
  }

  @Test("if the next segment cannot be created, the take continues in the same file and says so once")
  mutating func impossibleSegment() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    // A name that only the second segment uses.
    let name = URL(filePath: writer.openPath).lastPathComponent
    try folder.write("mine", to: name.replacing(".wav", with: "_2.wav.part"))
    var stall = Timing()
    stall.skippedFrames = 150 * 48_000
    run.process(Self.period, timing: stall)
    let result = try end(writer)
    #expect(result.frames == 11 * Self.period + 150 * 48_000 && result.sidecar.files.count == 1)
    #expect(result.sidecar.notes.count == 1 && result.sidecar.notes[0].contains("_2.wav.part"))
    #expect(try AudioFileReader(path: result.path).frames == result.frames)
    #expect(
      try String(
        contentsOfFile: "\(folder.path)/\(name.replacing(".wav", with: "_2.wav.part"))", encoding: .utf8)
        == "mine")
  }

  @Test("R6: repair of a take that was cut off includes segments that its sidecar does not list yet")
  mutating func unlistedSegments() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    let copy = try TemporaryFolder()
    // The sidecar as it is before any segment has ended.
    let json = URL(filePath: writer.openPath).lastPathComponent.replacing(".wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: "\(folder.path)/\(json)", toPath: "\(copy.path)/\(json)")
    var stall = Timing()
    stall.skippedFrames = 150 * 48_000
    run.process(Self.period, timing: stall)
    let length = 11 * Self.period + 150 * 48_000
    #expect(waitUntilWritten(writer, frames: length))
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.contains("json")
    {
      let copied = try Program.run(
        "/usr/bin/cp", ["--sparse=always", "\(folder.path)/\(name)", "\(copy.path)/\(name)"])
      #expect(copied.status == 0)
    }
    let cut = TakeFolder(path: copy.path)
    #expect(try Sidecar.read("\(copy.path)/\(json)").files.count == 1)
    #expect(cut.takes().map(\.frames) == [length] && cut.takes().map(\.files) == [3])
    #expect(cut.repair().map(\.frames) == [length])
    let listed = cut.takes()
    #expect(listed.map(\.state) == [.repaired] && listed.map(\.files) == [3] && listed[0].microphones)
    let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
    #expect(names.count == 7 && names.allSatisfy { !$0.contains(".part") }, "\(names)")
    _ = try end(writer)
  }

  func waitUntilWritten(_ writer: TakeWriter, frames: Int) -> Bool {
    waitUntil(seconds: 20) { writer.frames >= frames }
  }

  @Test(
    "R6: a take whose sidecar was replaced by an unlocked copy is not repaired while its sound is written")
  mutating func exchangedSidecar() throws {
    let writer = try writer()
    try begin(writer, periods: 50)
    let json = writer.openPath.replacing(".wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: json, toPath: folder.path + "/copy")
    #expect(rename(folder.path + "/copy", json) == 0)
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map(\.state) == [.recording] && takes.repair().isEmpty)
    #expect(access(writer.openPath + ".part", F_OK) == 0)
    let result = try end(writer)
    // The sound is complete, but its sidecar could not be written.
    #expect(access(writer.openPath, F_OK) == 0)
    #expect(try #require(result.fault).contains("\(json) was removed or replaced"))
  }

  @Test("a take whose last sidecar cannot be written says so, and repair finishes it")
  mutating func lastSidecar() throws {
    let writer = try writer()
    try begin(writer, periods: 50)
    let real = TakeFolder.resolve(folder.path)
    let name = URL(filePath: writer.openPath).lastPathComponent.replacing(".wav", with: ".json")
    for ending in [".part", ".part.next"] { try reopen("\(real)/\(name)\(ending)", O_RDONLY) }
    let result = try end(writer)
    #expect(try #require(result.fault).contains("\(name) could not be written"))
    #expect(result.fault?.contains("pinna takes repair") == true && result.sidecar.state == .incomplete)
    #expect(access(result.path, F_OK) == 0 && access("\(real)/\(name)", F_OK) != 0)
    #expect(try Sidecar.read("\(real)/\(name).part").state == .recording)
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map(\.state) == [.cut])
    #expect(takes.repair().map(\.frames) == [50 * Self.period])
    #expect(takes.takes().map(\.state) == [.repaired] && takes.repair().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: real).count == 3)
  }

  @Test("a take that ends before its first frame leaves no file, even if it is discarded only afterwards")
  mutating func neverBegun() throws {
    let writer = try writer()
    _ = try run.engine.beginTake(into: writer.opened(), followingTransport: true)
    run.process(Self.period)
    _ = try run.engine.endTake()
    run.process(Self.period)
    _ = try writer.finished()
    writer.discard()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a discarded take leaves no file, however early it is discarded")
  func noFile() throws {
    let plan = TakePlan(
      outputs: 2, sampleRate: 48000, options: TakeOptions(), setup: Self.setup,
      preRoll: PreRoll(microphones: 3, capacityFrames: 0))
    for wait in [false, true] {
      let writer = TakeWriter(folder: TakeFolder.resolve(folder.path), plan: plan)
      if wait { _ = try writer.opened() }
      writer.discard()
      _ = try writer.finished()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
