import Foundation
import Presets
import TestSupport
import Testing

/// Description files as editors write them.
@Suite("Files from editors") struct EditedTextTests {
  static let mark = "\u{FEFF}"
  static let pair = """
    title: Pair
    body: free
    microphones:
      a: [-20, 0, 0]
      b: [20, 0, 0]
    dataSources:
      Front: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}

    """
  static let preset =
    "title: T\ndevice: pair\ndataSource: Front\npolarPattern: omnidirectional\ninputOrientation: portrait\n"

  private func library() throws -> (PresetLibrary, TemporaryFolder) {
    let folder = try TemporaryFolder()
    return (PresetLibrary(folders: [folder.path], calibrationFolder: folder.path + "/calibration"), folder)
  }

  @Test("a byte-order mark and line ends of other systems change no file of any kind")
  func marks() throws {
    let (library, folder) = try library()
    func write(_ text: String, to name: String) throws {
      try folder.write(Self.mark + text.replacing("\n", with: "\r\n"), to: name)
    }
    try write(Self.pair, to: "devices/pair.yaml")
    try write(Self.preset, to: "mine.yaml")
    try write("title: B\npresets: [mine]\n", to: "banks/b.yaml")
    try write("controllers:\n  - {controller: 7, sets: gain}\n", to: "midi/controllers.yaml")
    try write(
      "format: 1\ndevice: pair\ndate: d\nmethod: m\nmicrophones: {a: {gain: 1}}\n",
      to: "calibration/pair.yaml")
    let device = try library.device(named: "pair")
    #expect(device.microphones.map(\.name) == ["a", "b"] && device.calibration?.date == "d")
    #expect(try library.preset(named: "mine").title == "T")
    #expect(try library.bank(named: "b").presets == ["mine"])
    #expect(try library.midiMap().controllers.count == 1)
    #expect(try library.text(ofPreset: "mine").hasPrefix("title"))
  }

  @Test("a controller is added to a file with a mark")
  func adding() throws {
    let old = Self.mark + "controllers:\n  - {controller: 7, sets: gain}\n"
    let new = MIDIMap.Controller(.controller(8), .setting(.mute))
    let text = try MIDIMapFile.text(adding: new, to: old, file: "c.yaml")
    #expect(
      try MIDIMapFile.read(text: text, file: "c.yaml").controllers.map(\.source) == [
        .controller(8), .controller(7),
      ])
  }

  @Test("a mistake behind a mark has the place that an editor shows")
  func places() throws {
    let error = #expect(throws: DescriptionError.self) {
      try DeviceFile.read(YAMLReader(text: Self.mark + "titel: x\n", file: "d.yaml"))
    }
    #expect(error?.description.hasPrefix("d.yaml:1:1: ") == true)
  }

  @Test(
    "a tab that YAML refuses is called a tab, at its place",
    arguments: [
      ("title: x\nmicrophones:\n\ta: [0, 0, 0]\n", "3:1: a tab"),
      ("microphones:\n  a: [0, 0, 0]\n\tb: [1, 0, 0]\n", "3:1: a tab"),
      ("microphones:\n  a:\n \t - 1\n", "a tab"),
    ])
  func tabs(text: String, words: String) throws {
    let error = #expect(throws: DescriptionError.self) {
      try DeviceFile.read(YAMLReader(text: text, file: "d.yaml"))
    }
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
  }

  @Test("other mistakes in a file with tabs are not blamed on them")
  func innocentTabs() throws {
    let error = #expect(throws: DescriptionError.self) {
      try DeviceFile.read(YAMLReader(text: "title:\tx\nbody: [1, 2\n", file: "d.yaml"))
    }
    #expect(error?.description.contains("this is not valid YAML") == true, "\(String(describing: error))")
  }
}
