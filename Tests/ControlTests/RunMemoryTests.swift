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

  @Test(
    "a file of version 0.2.0, whose poses stand apart and whose looks and corners are words, gives the same setting"
  )
  func olderFile() throws {
    try #"""
    {"connections":[],"format":1,"setting":{"adaptation":0.5,"dataSource":"Back","device":"phone5","feeds":[
    {"dataSource":"Front","gainDB":-9,"highPass":"100","inputOrientation":"portrait","look":"30,5","name":"anna",
    "polarPattern":"cardioid","turn":{"follow":"look","roll":0,"yaw":0}},
    {"dataSource":"Back","gainDB":0,"highPass":"off","inputOrientation":"portrait","name":"room",
    "polarPattern":"ambix1"}],"gainDB":-6,"highPass":"off","inputOrientation":"landscapeRight",
    "polarPattern":"stereo","preset":"phone5","turn":{"follow":"roll,yaw","roll":10,"yaw":-5}}}
    """#.write(toFile: folder.path + "/old.json", atomically: true, encoding: .utf8)
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    var expected = try Setting(preset: "phone5", in: library)
    try expected.apply(
      Change.list([
        "data-source", "Back", "orientation", "landscapeRight", "roll", "10", "yaw", "-5", "follow",
        "roll,yaw",
        "gain", "-6", "high-pass", "off", "adapt", "0.5",
      ]))
    expected.want([
      FeedSetting(
        name: "anna",
        Selection(
          dataSource: "Front", polarPattern: .cardioid, inputOrientation: .portrait,
          look: Look(azimuth: 30, elevation: 5), follows: [.look]),
        gain: Decibels(-9), highPass: .on(Hertz(100))),
      FeedSetting(
        name: "room",
        Selection(dataSource: "Back", polarPattern: .ambix1, inputOrientation: .portrait)),
    ])
    let read = try #require(try RunMemoryFile.read(folder.path + "/old.json"))
    #expect(try read.setting.setting(in: library) == expected)
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
      setting.seats = try Seat.list(["anna=40", "ben=-35,10"])
      let path = folder.path + "/left.json"
      try RunMemoryFile.write(RunMemory(setting, []), to: path)
      #expect(try RunMemoryFile.read(path)?.setting.setting(in: library) == setting, "\(words)")
    }
  }
}
