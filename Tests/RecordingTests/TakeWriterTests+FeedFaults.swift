import AudioFiles
import Foundation
import LiveSupport
import Realtime
import Recording
import TestSupport
import Testing

/// What is promised of takes, of takes of several feeds.
extension TakeWriterTests {
  static let endings = ["", "-anna", "-room", "-microphones"]

  @Test(
    "R8: a take of several feeds that fills its disk has all files, of the same length",
    .enabled(if: getuid() == 0, "only root may mount a small disk"))
  mutating func fullDiskOfFeeds() throws {
    try startFeeds()
    let disk = TakeFolder.resolve(folder.path) + "/disk"
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    let mounted = try Program.run("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=300k", "none", disk])
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? Program.run("/usr/bin/umount", [disk]) }
    let writer = try feedWriter(in: disk)
    _ = try run.engine.beginTake(into: writer.opened())
    for _ in 0..<200 { run.process(Self.period) }
    try #require(waitUntil(seconds: 5) { writer.fault != nil })
    let result = try end(writer)
    let frames = result.sidecar.frames
    #expect(frames > 1000 && frames < 200 * Self.period)
    #expect(
      result.fault
        == "its last \(200 * Self.period - frames) frames could not be written: No space left on device")
    for (ending, source) in played {
      let clip = try AudioClip(path: writer.openPath.replacing(".wav", with: ending + ".wav"))
      #expect(differences(clip, source, 0..<frames) == 0, "\(ending)")
    }
  }

  @Test("R9: a take of several feeds that loses its callback has silence in every file for what was lost")
  mutating func callbackGoesFromFeeds() throws {
    try startFeeds()
    let writer = try feedWriter()
    _ = try run.engine.beginTake(into: writer.opened())
    for _ in 0..<10 { run.process(Self.period) }
    var stall = Timing()
    stall.skippedFrames = 4800
    run.process(Self.period, timing: stall)
    writer.abandon()
    let result = try writer.finished()
    #expect(result.sidecar.state == .incomplete && result.frames == 11 * Self.period + 4800)
    for (ending, source) in played {
      let clip = try AudioClip(path: stem(result) + ending + ".wav")
      for (channel, source) in zip(clip.channels, source) {
        #expect(channel.prefix(640).elementsEqual(source.prefix(640)))
        #expect(channel.count == result.frames && channel[640..<640 + 4800].allSatisfy { $0 == 0 })
        #expect(channel.suffix(64).elementsEqual(source[640..<704]))
      }
    }
  }

  @Test(
    "R6: repair finishes a take of several feeds that was cut off, with all files in step, and leaves one in use alone",
    arguments: endings, [true, false])
  mutating func repairFeeds(shortest: String, main: Bool) throws {
    guard main || !shortest.isEmpty else { return }
    try startFeeds()
    let writer = try feedWriter(main: main)
    try begin(writer, periods: 100)
    #expect(TakeFolder(path: folder.path).repair().isEmpty)
    #expect(TakeFolder(path: folder.path).takes().map(\.state) == [.recording])
    let copy = try TemporaryFolder()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(copy.path)/\(name)")
    }
    let name = URL(filePath: writer.openPath).lastPathComponent.replacing(
      main ? ".wav" : "-anna.wav", with: "")
    // Cut the end off one file, in the middle of a frame.
    let channels = ["": 2, "-anna": 1, "-room": 4, "-microphones": 3][shortest]!
    let part = "\(copy.path)/\(name)\(shortest).wav.part"
    let size = try #require(try FileManager.default.attributesOfItem(atPath: part)[.size] as? Int)
    truncate(part, off_t(size - 4 * channels * 1000 - 3))
    let cut = TakeFolder(path: copy.path)
    #expect(cut.takes().map(\.state) == [.cut])
    let frames = 100 * Self.period - 1001
    let repaired = cut.repair()
    #expect(repaired.map(\.fault) == [nil] && repaired.map(\.frames) == [frames], "\(repaired)")
    #expect(repaired[0].path.hasSuffix(main ? "-1.wav" : "-1-anna.wav"))
    for (ending, source) in played where main || !ending.isEmpty {
      #expect(
        try differences(AudioClip(path: "\(copy.path)/\(name)\(ending).wav"), source, 0..<frames) == 0,
        "\(ending)")
    }
    #expect(cut.takes().map(\.state) == [.repaired] && cut.repair().isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
    #expect(names.count == (main ? 5 : 4) && names.allSatisfy { !$0.hasSuffix(".part") }, "\(names)")
    #expect(try end(writer).fault == nil)
  }

  @Test(
    "R6: repair finishes what is there of a take that was cut off, names what was removed, and lists it",
    arguments: [["-room"], [""], ["", "-anna", "-microphones"], ["-microphones"], endings])
  mutating func repairWithoutFiles(gone: [String]) throws {
    try startFeeds()
    let writer = try feedWriter()
    try begin(writer, periods: 100)
    let copy = try TemporaryFolder()
    let name = URL(filePath: writer.openPath).lastPathComponent.dropLast(4)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where !gone.contains(where: { file == "\(name)\($0).wav.part" }) {
      try FileManager.default.copyItem(atPath: "\(folder.path)/\(file)", toPath: "\(copy.path)/\(file)")
    }
    let cut = TakeFolder(path: copy.path)
    let isLost = gone == Self.endings
    #expect(cut.takes().map(\.state) == (isLost ? [] : [.cut]))
    let repaired = cut.repair()
    _ = try end(writer)
    guard !isLost else {
      #expect(repaired.count == 1 && repaired[0].fault?.contains("none of its files") == true, "\(repaired)")
      #expect(access("\(copy.path)/\(name).json.part", F_OK) == 0)
      return
    }
    #expect(repaired.map(\.fault) == [nil] && repaired.map(\.frames) == [100 * Self.period], "\(repaired)")
    #expect(Set(repaired[0].removed) == Set(gone.map { "\(name)\($0).wav" }))
    for (ending, source) in played where !gone.contains(ending) {
      let clip = try AudioClip(path: "\(copy.path)/\(name)\(ending).wav")
      #expect(differences(clip, source, 0..<100 * Self.period) == 0, "\(ending)")
    }
    let listed = try #require(cut.takes().first)
    #expect(listed.state == .repaired && access(listed.path, F_OK) == 0 && listed.path == repaired[0].path)
    #expect(try AudioClip(path: listed.path).channels.count == listed.channels)
    for ending in gone { #expect(listed.missing.contains { $0.contains("\(name)\(ending).wav") }) }
    // The microphones give a removed feed again.
    #expect(try Sidecar.read("\(copy.path)/\(name).json").files.map(\.names.count) == [4])
  }

  @Test(
    "R6: repair includes segments that the sidecar does not list yet, also one that has not all its files",
    arguments: [true, false])
  mutating func unlistedSegmentsOfFeeds(isWhole: Bool) throws {
    try startFeeds()
    let writer = try feedWriter { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    let copy = try TemporaryFolder()
    let json = URL(filePath: writer.openPath).lastPathComponent.replacing(".wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: "\(folder.path)/\(json)", toPath: "\(copy.path)/\(json)")
    var stall = Timing()
    stall.skippedFrames = 150 * 48_000
    run.process(Self.period, timing: stall)
    let length = 11 * Self.period + 150 * 48_000
    #expect(waitUntilWritten(writer, frames: length))
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.contains("json")
    {
      if !isWhole, name.contains("_3-room") || name.contains("_3-micro") { continue }
      let copied = try Program.run(
        "/usr/bin/cp", ["--sparse=always", "\(folder.path)/\(name)", "\(copy.path)/\(name)"])
      #expect(copied.status == 0)
    }
    let cut = TakeFolder(path: copy.path)
    #expect(cut.takes().map(\.frames) == [length] && cut.takes().map(\.files) == [3])
    #expect(cut.repair().map(\.frames) == [length])
    let files = try Sidecar.read("\(copy.path)/\(json.dropLast(5))").files
    #expect(files.map(\.names.count) == [4, 4, isWhole ? 4 : 2])
    let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
    #expect(names.count == (isWhole ? 13 : 11) && names.allSatisfy { !$0.contains(".part") }, "\(names)")
    _ = try end(writer)
  }

  @Test(
    "R6: a feed's file that is being written is not repaired, whatever the sidecar says",
    arguments: [true, false])
  mutating func exchangedSidecarOfFeeds(hasSidecar: Bool) throws {
    try startFeeds()
    let writer = try feedWriter(main: false, ["room"]) { $0.raw = false }
    try begin(writer, periods: 50)
    let json = writer.openPath.replacing("-room.wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: json, toPath: folder.path + "/copy")
    if hasSidecar { #expect(rename(folder.path + "/copy", json) == 0) } else { unlink(json) }
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map(\.state) == [.recording] && takes.repair().isEmpty)
    #expect(access(writer.openPath + ".part", F_OK) == 0)
    let result = try end(writer)
    #expect(access(writer.openPath, F_OK) == 0)
    #expect(try #require(result.fault).contains("\(json) was removed or replaced"))
  }

  @Test(
    "R6: a sidecar that lists another take's file as a feed's is refused, and so is a name of two meanings")
  mutating func foreignFeed() throws {
    try startFeeds()
    let result = try take(try feedWriter(), periods: 4)
    let json = stem(result) + ".json"
    let text = try String(contentsOfFile: json, encoding: .utf8)
    let name = result.sidecarName.replacing(".json", with: "")
    for (old, new) in [
      ("\(name)-room.wav", "other-room.wav"), ("\(name)-room.wav", "\(name)-anna.wav"),
      ("\"room\" : \"\(name)-room.wav\"", "\"microphones\" : \"\(name)-microphones.wav\""),
      ("\(name)-room.wav", "../\(name)-room.wav"),
    ] {
      try text.replacing(old, with: new).write(toFile: json + ".part", atomically: false, encoding: .utf8)
      unlink(json)
      for ending in Self.endings {
        rename(stem(result) + ending + ".wav", stem(result) + ending + ".wav.part")
      }
      let repaired = TakeFolder(path: folder.path).repair()
      #expect(repaired.count == 1 && repaired[0].fault != nil, "\(repaired)")
      for ending in Self.endings { #expect(access(stem(result) + ending + ".wav.part", F_OK) == 0) }
    }
  }

  @Test(
    "a feed's file that is removed during the take is missed within two seconds, and the others are whole",
    arguments: ["-anna", "-room"])
  mutating func removedFeed(ending: String) throws {
    try startFeeds()
    let writer = try feedWriter()
    try begin(writer, periods: 10)
    let path = writer.openPath.replacing(".wav", with: ending + ".wav.part")
    #expect(waitUntil(seconds: 2) { (try? FileManager.default.removeItem(atPath: path)) != nil })
    #expect(waitUntil(seconds: 2) { writer.loss?.contains("\(path) was removed") == true })
    let result = try end(writer)
    #expect(try #require(result.fault).contains("\(path) was removed"))
    for (other, source) in played where other != ending {
      #expect(
        try differences(AudioClip(path: stem(result) + other + ".wav"), source, 0..<10 * Self.period) == 0)
    }
  }

  @Test("a feed's file whose header cannot be updated keeps its .part and says so, and repair finishes it")
  mutating func staleHeaderOfAFeed() throws {
    try startFeeds()
    let writer = try feedWriter()
    try begin(writer, periods: 10)
    let name = URL(filePath: writer.openPath).lastPathComponent.replacing(".wav", with: "-room.wav")
    try reopen("\(TakeFolder.resolve(folder.path))/\(name).part", O_RDONLY)
    let result = try end(writer)
    #expect(try #require(result.fault).contains("\(name).part"))
    #expect(access(writer.openPath, F_OK) == 0 && access(folder.path + "/" + name, F_OK) != 0)
    #expect(TakeFolder(path: folder.path).takes().map(\.state) == [.cut])
    let repaired = TakeFolder(path: folder.path).repair()
    #expect(repaired.map(\.fault) == [nil] && repaired.map(\.frames) == [10 * Self.period])
    for (ending, source) in played {
      #expect(
        try differences(AudioClip(path: stem(result) + ending + ".wav"), source, 0..<10 * Self.period) == 0)
    }
  }
}
