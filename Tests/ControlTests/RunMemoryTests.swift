import Acoustics
import Foundation
import JackClient
import JackWorld
import Messages
import Presets
import Processor
import Settings
import TestSupport
import Testing

@Suite("The memory of the last run", .timeLimit(.minutes(10))) struct RunMemoryTests {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("what cannot be kept is a fault that names the file, until it can be kept again")
  func fault() throws {
    try folder.write("a file where a folder belongs", to: "state")
    let path = folder.path + "/state/pinna/left.json"
    let file = try RunMemoryFile(path: path)
    #expect(file.fault == nil)
    file.keep(RunMemory(Rig.setting, []))
    while file.fault == nil { usleep(1000) }
    let fault = try #require(file.fault)
    #expect(fault.contains("not kept for the next run") && fault.contains(path), "\(fault)")
    try FileManager.default.removeItem(atPath: folder.path + "/state")
    file.keep(RunMemory(Rig.setting, [Wiring.Wire("one", "system:capture_1")]))
    while file.fault != nil { usleep(1000) }
    #expect(try RunMemoryFile.read(path)?.connections.count == 1)
  }

  @Test("each part of a setting, and of its feeds, is there again in the next run")
  func wholeSetting() throws {
    try folder.write(PresetTexts.table, to: "table.yaml")
    let library = PresetLibrary(folders: [folder.path, repositoryFolder + "/Presets"])
    let port = "system:capture_9"
    let line = try Device(
      name: port, title: port, body: .free, microphones: [Microphone(name: "line", position: .zero)],
      dataSources: [.only], portType: .lineIn, capturePorts: [port])
    let turned = ["orientation", "portraitUpsideDown", "roll", "30", "yaw", "-15", "follow", "roll,yaw"]
    for (input, words) in [
      (nil, ["data-source", "Back"] + turned),
      (nil, ["data-source", "Left", "pattern", "hypercardioid", "look", "60,10", "follow", "look"]),
      (line, turned),
    ] as [(Device?, [String])] {
      var setting = try Setting(preset: "table", in: library)
      if let input { setting.choose(input) }
      try setting.apply(Change.list((words + ["gain", "-3.5", "high-pass", "90", "adapt", "0.5"])[...]))
      let look = Selection(
        dataSource: "Left", polarPattern: .hypercardioid, inputOrientation: .portraitUpsideDown,
        look: Look(azimuth: 60, elevation: 10), follows: [.look])
      let pose = Selection(
        dataSource: "Back", polarPattern: .stereo, inputOrientation: .portraitUpsideDown,
        pose: Pose(roll: 10, yaw: 20), follows: [.yaw])
      setting.want([
        FeedSetting(name: "anna", look, gain: Decibels(-6), highPass: .on(Hertz(120))),
        FeedSetting(name: "room", pose),
      ])
      let path = folder.path + "/left.json"
      try RunMemoryFile.write(RunMemory(setting, []), to: path)
      #expect(try RunMemoryFile.read(path)?.setting.setting(in: library) == setting, "\(words)")
    }
  }
}
