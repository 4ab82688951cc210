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
    "R6: repair finishes a take that was cut off, with all files in step, once, and leaves one in use alone",
    arguments: endings.map { ($0, true, all) } + endings.dropFirst().map { ($0, false, all) }
      + [("-microphones", true, [])])
  mutating func repair(shortest: String, main: Bool, names: [String]) throws {
    try startFeeds()
    let writer = try writer(main: main, names)
    // The frames are on disk, but no header counts them yet.
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
    let played = played(names).filter { main || !$0.ending.isEmpty }
    for (ending, source) in played {
      #expect(
        try differences(AudioClip(path: "\(copy.path)/\(name)\(ending).wav"), source, 0..<frames) == 0,
        "\(ending)")
    }
    let listed = cut.takes()
    #expect(listed.map(\.state) == [.repaired] && listed.map(\.frames) == [frames] && cut.repair().isEmpty)
    let files = try FileManager.default.contentsOfDirectory(atPath: copy.path)
    #expect(files.count == played.count + 1 && files.allSatisfy { !$0.hasSuffix(".part") }, "\(files)")
    #expect(try end(writer).fault == nil)
  }

  @Test(
    "R6: repair finishes what is there of a take that was cut off, names what was removed, and lists it",
    arguments: [["-room"], [""], ["", "-anna", "-microphones"], ["-microphones"], endings])
  mutating func repairWithoutFiles(gone: [String]) throws {
    try startFeeds()
    let writer = try writer(Self.all)
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
    for (ending, source) in played() where !gone.contains(ending) {
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
    arguments: [([], true), (all, true), (all, false)])
  mutating func unlistedSegments(names: [String], isWhole: Bool) throws {
    try startFeeds()
    let writer = try writer(names) { $0.splitMinutes = 1 }
    try begin(writer, periods: 10)
    let copy = try TemporaryFolder()
    // The sidecar as it is before any segment has ended.
    let json = URL(filePath: writer.openPath).lastPathComponent.replacing(".wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: "\(folder.path)/\(json)", toPath: "\(copy.path)/\(json)")
    run.process(Self.period, timing: .stall(150 * 48_000))
    for _ in 0..<130 { run.process(Self.period) }
    let length = 141 * Self.period + 150 * 48_000
    #expect(waitUntil(seconds: 20) { writer.frames >= length })
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.contains("json")
    {
      if !isWhole, name.contains("_3-room") || name.contains("_3-micro") { continue }
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
    let each = names.count + 2
    let counts = try Sidecar.read("\(copy.path)/\(json.dropLast(5))").files.map(\.names.count)
    #expect(counts == [each, each, isWhole ? each : 2])
    let files = try FileManager.default.contentsOfDirectory(atPath: copy.path)
    #expect(files.count == counts.reduce(1, +) && files.allSatisfy { !$0.contains(".part") }, "\(files)")
    _ = try end(writer)
  }

  @Test(
    "R6: a file that is being written is not repaired, whatever the sidecar says: an unlocked copy, or nothing",
    arguments: [(false, true), (true, true), (true, false)])
  mutating func exchangedSidecar(isFeed: Bool, hasSidecar: Bool) throws {
    try startFeeds()
    let writer = try isFeed ? writer(main: false, ["room"]) { $0.raw = false } : writer()
    try begin(writer, periods: 50)
    let json = writer.openPath.replacing(isFeed ? "-room.wav" : ".wav", with: ".json.part")
    try FileManager.default.copyItem(atPath: json, toPath: folder.path + "/copy")
    if hasSidecar { #expect(rename(folder.path + "/copy", json) == 0) } else { unlink(json) }
    let takes = TakeFolder(path: folder.path)
    #expect(takes.takes().map(\.state) == [.recording] && takes.repair().isEmpty)
    #expect(access(writer.openPath + ".part", F_OK) == 0)
    let result = try end(writer)
    // The sound is complete, but its sidecar could not be written.
    #expect(access(writer.openPath, F_OK) == 0)
    #expect(try #require(result.fault).contains("\(json) was removed or replaced"))
  }

  @Test(
    "R6: a sidecar that lists another take's file as a feed's is refused, and so is a name of two meanings")
  mutating func foreignFeed() throws {
    try startFeeds()
    let result = try take(try writer(Self.all), periods: 4)
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
}
