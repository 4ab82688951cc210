import Acoustics
import Foundation
import Presets
import Settings
import TestSupport
import Testing

@Suite("The preset library")
struct PresetLibraryTests {
  static let shipped = repositoryFolder + "/Presets"
  static let preset = """
    title: Mine
    device: phone5
    dataSource: front
    polarPattern: CARDIOID
    inputOrientation: LandscapeLeft
    gain: -3.5
    """

  /// The shipped presets.
  static let names = [
    "ambeo-vr", "aria-gen1", "aria-gen2", "em32", "glasses8", "h3-vr", "kinect-v1", "linear8", "macbook",
    "matrix-creator", "matrix-voice", "phone2", "phone3", "phone4", "phone5", "ps-eye",
    "respeaker-4mic-hat", "respeaker-6mic-hat", "respeaker-usb-v2", "respeaker-xvf3800", "ring7", "tetra",
    "tetramic", "uma16", "uma8", "zylia-zm1",
  ]

  @Test("presets and devices are found in any case, with the names of their files")
  func anyCase() throws {
    let library = PresetLibrary(folders: [Self.shipped])
    #expect(library.presetNames() == Self.names)
    #expect(try library.preset(named: "PHONE5") == library.preset(named: "phone5"))
    #expect(try library.device(named: "Ring7").name == "ring7")
    #expect(try library.text(ofPreset: "phone5").contains("device: phone5"))
  }

  @Test(
    "an unknown name is refused with a list of the known ones",
    arguments: ["phone6", "", "../phone5", ".hidden", "a/b", "a\0b"])
  func notFound(name: String) {
    let library = PresetLibrary(folders: [Self.shipped])
    let error = #expect(throws: DescriptionNotFound.self) { try library.preset(named: name) }
    #expect(error?.available == Self.names)
    #expect(error?.description.hasSuffix("; use one of: \(Self.names.joined(separator: ", "))") == true)
    #expect(error?.description.contains("\0") == false)
    #expect(throws: DescriptionNotFound.self) { try library.device(named: name) }
  }

  @Test("the user's folder takes precedence, and its presets may use shipped devices")
  func precedence() throws {
    let mine = try TemporaryFolder()
    try mine.write(Self.preset, to: "PHONE5.yaml")
    let library = PresetLibrary(folders: [mine.path + "/none", mine.path, Self.shipped])
    #expect(library.presetNames() == Self.names.map { $0 == "phone5" ? "PHONE5" : $0 }.sorted())
    let preset = try library.preset(named: "phone5")
    #expect(
      preset
        == Preset(
          name: "PHONE5", title: "Mine", device: "phone5",
          main: FeedSetting(
            Selection(dataSource: "Front", polarPattern: .cardioid, inputOrientation: .landscapeLeft),
            gain: Decibels(-3.5))))
  }

  @Test("the XDG folders are searched in order, then the shipped one")
  func folders() {
    let environment = ["HOME": "/home/you", "XDG_DATA_DIRS": "/a:relative:/b:/a"]
    #expect(
      PresetFolders.search(environment: environment, shipped: "/shipped")
        == ["/home/you/.config/pinna", "/home/you/.local/share/pinna", "/a/pinna", "/b/pinna", "/shipped"])
    let moved = ["XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"]
    #expect(
      PresetFolders.search(environment: moved, shipped: nil)
        == ["/c/pinna", "/d/pinna", "/usr/local/share/pinna", "/usr/share/pinna"])
  }

  @Test(
    "shipped presets are those installed with the program, then those above it, above the current folder, in the system"
  )
  func shippedFolder() throws {
    let tree = try TemporaryFolder()
    let root = tree.path
    for folder in ["prefix/share/pinna/presets", "x/Presets", "y/Presets", "data/pinna/presets"] {
      try tree.write("", to: folder + "/devices/d.yaml")
    }
    func folder(_ program: String?, in current: String?, data: String = root + "/data") -> String? {
      ShippedPresets(environment: ["XDG_DATA_DIRS": data], executable: program, currentFolder: current).folder
    }
    let current = root + "/y/sub"
    #expect(folder(root + "/prefix/bin/pinna", in: current) == root + "/prefix/share/pinna/presets")
    #expect(folder(root + "/x/.build/release/pinna", in: current) == root + "/x/Presets")
    #expect(folder(root + "/z/bin/pinna", in: current) == root + "/y/Presets")
    #expect(folder(nil, in: current) == root + "/y/Presets")
    #expect(folder(root + "/z/bin/pinna", in: "/") == root + "/data/pinna/presets")
    #expect(folder(nil, in: nil) == root + "/data/pinna/presets")
    #expect(folder(root + "/z/bin/pinna", in: nil, data: root + "/none") == nil)
  }

  @Test("PINNA_PRESETS alone counts where it is set")
  func namedFolder() throws {
    let tree = try TemporaryFolder()
    try tree.write("", to: "x/Presets/devices/d.yaml")
    func shipped(_ name: String) -> ShippedPresets {
      ShippedPresets(
        environment: ["PINNA_PRESETS": name], executable: tree.path + "/x/pinna", currentFolder: nil)
    }
    #expect(shipped(tree.path).folder == tree.path && shipped(tree.path).absence == nil)
    #expect(shipped("").folder == tree.path + "/x/Presets")
    #expect(shipped("/nowhere").folder == nil)
    #expect(shipped("/nowhere").absence?.contains("looked for /nowhere, which PINNA_PRESETS names;") == true)
  }

  @Test("where no shipped presets were found, an unknown name is refused with where they were looked for")
  func shippedAbsence() throws {
    let absence = ShippedPresets(
      environment: ["XDG_DATA_DIRS": "/none"], executable: "/none/bin/pinna", currentFolder: nil
    ).absence
    let folder = try TemporaryFolder()
    func error() -> String? {
      let library = PresetLibrary(folders: [folder.path], shippedAbsence: absence)
      return #expect(throws: DescriptionNotFound.self) { try library.preset(named: "phone5") }?.description
    }
    let looked =
      "no shipped presets were found: looked for /none/share/pinna/presets, a folder Presets above /none/bin, "
      + "/none/pinna/presets; install Pinna with its presets (make install), or set PINNA_PRESETS to their folder"
    #expect(error() == "there is no preset \"phone5\"; " + looked)
    try folder.write(Self.preset, to: "mine.yaml")
    #expect(error() == "there is no preset \"phone5\"; use one of: mine; " + looked)
  }

  @Test("the standard library of this process has the shipped presets")
  func standard() {
    #expect(Set(PresetLibrary.standard.presetNames()).isSuperset(of: Self.names))
  }

  @Test(
    "a preset written by PresetFile is read back unchanged",
    arguments: ["plain", "with \"quotes\" and \\", "Ümläut: #1", "- {x"])
  func roundTrip(title: String) throws {
    let preset = Preset(
      name: "p", title: title, device: "ring7",
      main: FeedSetting(
        Selection(dataSource: "Left", polarPattern: .figureEight, inputOrientation: .portrait),
        gain: Decibels(-12.25), highPass: title == "plain" ? .off : .on(Hertz(80.5))))
    let library = PresetLibrary(folders: [Self.shipped])
    let text = PresetFile.text(of: preset)
    #expect(
      try PresetFile.read(YAMLReader(text: text, file: "p.yaml"), device: library.device(named:)) == preset)
  }

  @Test(
    "a mistake in a preset is reported with its place",
    arguments: [
      ("phone5", "phone6", "2:9: device cannot be used: there is no device \"phone6\"; use one of: ambeo-vr"),
      ("front", "rear", "3:13: dataSource is an unknown data source of phone5 \"rear\"; use one of: Bottom"),
      (
        "CARDIOID", "figureEight",
        "4:15: polarPattern is not possible: data source Front of phone5 does not offer"
      ),
      ("CARDIOID", "heart", "4:15: polarPattern has an unknown polar pattern \"heart\"; use one of: omni"),
      ("LandscapeLeft", "up", "5:19: inputOrientation has an unknown input orientation \"up\"; use one of"),
      ("-3.5", "25", "6:7: gain is 25, out of range; write a number from -60 to 24 dB"),
      (
        "gain: -3.5", "highPass: 10",
        "6:11: highPass is 10, out of range; write a number from 20 to 400 Hz, or off"
      ),
      (
        "gain: -3.5", "highPass: low", "6:11: highPass is \"low\", not a number; write a number in Hz, or off"
      ),
      ("gain", "volume", "6:1: the file has an unknown key \"volume\"; use one of: title, device"),
      ("title: Mine\n", "", "1:1: the file has no key \"title\"; add it, for example \"title: My preset\""),
    ])
  func errors(old: String, new: String, expected: String) {
    let text = Self.preset.replacingOccurrences(of: old, with: new)
    let library = PresetLibrary(folders: [Self.shipped])
    let error = #expect(throws: DescriptionError.self) {
      try PresetFile.read(YAMLReader(text: text, file: "p.yaml"), device: library.device(named:))
    }
    #expect(error?.description.hasPrefix("p.yaml:" + expected) == true, "\(String(describing: error))")
  }

  @Test("a mistake in a preset's device file is reported with that file")
  func brokenDevice() throws {
    let folder = try TemporaryFolder()
    try folder.write("title: Broken\n", to: "devices/broken.yaml")
    try folder.write(Self.preset.replacingOccurrences(of: "phone5", with: "broken"), to: "p.yaml")
    let error = #expect(throws: DescriptionError.self) {
      try PresetLibrary(folders: [folder.path]).preset(named: "p")
    }
    #expect(error?.file.hasSuffix("/devices/broken.yaml") == true)
  }
}
