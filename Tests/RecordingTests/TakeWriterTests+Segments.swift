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
    run.process(Self.period, timing: .stall((2 * minutes + 1) * 30 * 48_000))
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
    run.process(Self.period, timing: .stall(150 * 48_000))
    let result = try end(writer)
    #expect(result.frames == 11 * Self.period + 150 * 48_000 && result.sidecar.files.count == 1)
    #expect(result.sidecar.notes.count == 1 && result.sidecar.notes[0].contains("_2.wav.part"))
    #expect(try AudioFileReader(path: result.path).frames == result.frames)
    #expect(
      try String(
        contentsOfFile: "\(folder.path)/\(name.replacing(".wav", with: "_2.wav.part"))", encoding: .utf8)
        == "mine")
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
    _ = try end(writer)
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
