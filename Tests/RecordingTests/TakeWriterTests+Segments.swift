import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// Takes of many files, and what the sidecar does not say of them.
extension TakeWriterTests {
  /// A take that is split every minute, with `minutes` of stall in it and half a minute more; not yet ended.
  mutating func long(minutes: Int, maximumSegments: Int = 10_000) throws -> TakeWriter {
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

  @Test("has no more segments than a sidecar may list: the last one goes on, and that is said")
  mutating func maximumSegments() throws {
    let writer = try long(minutes: 6, maximumSegments: 4)
    let result = try end(writer)
    let files = result.sidecar.files
    #expect(files.count == 4 && result.frames == files.reduce(0) { $0 + $1.frames })
    #expect(files[2].frames == 60 * 48_000 && files[3].frames > 3 * 60 * 48_000)
    #expect(result.sidecar.notes.count == 1 && result.sidecar.notes[0].contains("at most 4 segments"))
    #expect(result.sidecar.missing.count == 1)
  }

  @Test("goes on in the same file where the next cannot be made, and says so once")
  mutating func impossibleSegment() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    // The names of the second segment, and of no other.
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

  @Test("R6: that was cut off is repaired with the segments that its sidecar does not list yet")
  mutating func unlistedSegments() throws {
    let writer = try writer { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    let copy = try TemporaryFolder()
    // As it is before any segment has ended.
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

  @Test("R6: whose sidecar was exchanged for one that nobody locks is left alone while its sound is written")
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
    // The sound is whole; what is said of it could not be.
    #expect(access(writer.openPath, F_OK) == 0)
    #expect(try #require(result.fault).contains("\(json) was removed or replaced"))
  }

  @Test("whose sidecar cannot be written for the last time says so, and repair finishes it")
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

  @Test("leaves no file where it is discarded, however early")
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
