import Acoustics
import Presets
import TestSupport
import Testing

@Suite("Banks, and connections of presets") struct BankFileTests {
  @Test("a bank is written and read back; its order is that of the program numbers")
  func roundTrip() throws {
    let bank = Bank(
      name: "evening", title: "Evening \"at\" the \\ theatre", presets: ["ring7", "phone5", "ring7"])
    #expect(try BankFile.read(YAMLReader(text: BankFile.text(of: bank), file: "evening.yaml")) == bank)
  }

  @Test(
    "a title of several lines is refused when it is read back, not read as another",
    arguments: ["\n", "\r\n", "\u{85}", "\u{2028}", "\t"])
  func lines(separator: String) {
    let bank = Bank(name: "b", title: "one\(separator)two", presets: ["ring7"])
    let error = #expect(throws: DescriptionError.self) {
      try BankFile.read(YAMLReader(text: BankFile.text(of: bank), file: "b.yaml"))
    }
    #expect(error?.description.contains("unprintable") == true, "\(error?.description ?? "")")
  }

  @Test("banks are found by name; without a name, all presets in the order of their names are one")
  func library() throws {
    let mine = try TemporaryFolder()
    try mine.write("title: Mine\npresets: [ring7, phone5]\n", to: "banks/mine.yaml")
    let library = PresetLibrary(folders: [mine.path, PresetLibraryTests.shipped])
    #expect(library.bankNames() == ["mine"])
    #expect(try library.bank(named: "MINE").presets == ["ring7", "phone5"])
    #expect(try library.bank(named: nil).presets == library.presetNames())
    // The folder of banks is no preset.
    #expect(library.presetNames() == PresetLibraryTests.names)
    let error = #expect(throws: DescriptionNotFound.self) { try library.bank(named: "min") }
    #expect(
      error?.description == "there is no bank \"min\" (did you mean mine?); use one of: mine",
      "\(error?.description ?? "")")
  }

  @Test(
    "a mistake in a bank is refused",
    arguments: [
      ("title: A\npresets: []", "between 1 and 128"), ("title: A", "no key \"presets\""),
      ("title: A\npresets: phone5", "write a list"),
      ("title: A\npresets: [\(Array(repeating: "a", count: 129).joined(separator: ","))]", "has 129 presets"),
    ])
  func mistakes(text: String, words: String) {
    let error = #expect(throws: DescriptionError.self) {
      try BankFile.read(YAMLReader(text: text, file: "b.yaml"))
    }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  static let preset = """
    title: Wired
    device: phone5
    dataSource: Back
    polarPattern: stereo
    inputOrientation: portrait
    connections:
      bottom-left: system:capture_1
      out_left: ["system:playback_1", "recorder:in 1"]
      control: keys:out
    """

  func read(_ text: String) throws -> Preset {
    let library = PresetLibrary(folders: [PresetLibraryTests.shipped])
    return try PresetFile.read(YAMLReader(text: text, file: "wired.yaml"), device: library.device(named:))
  }

  @Test("a preset's connections are read, and written so that they read the same")
  func connections() throws {
    let preset = try read(Self.preset)
    #expect(
      preset.connections == [
        .init(port: "bottom-left", peer: "system:capture_1"),
        .init(port: "out_left", peer: "system:playback_1"),
        .init(port: "out_left", peer: "recorder:in 1"), .init(port: "control", peer: "keys:out"),
      ])
    #expect(try Set(read(PresetFile.text(of: preset)).connections) == Set(preset.connections))
  }

  @Test(
    "connections of a port that the device does not have, or to no full port name, are refused",
    arguments: [
      ("bottom-left", "bottom-lift", "is no port of phone5"),
      ("system:capture_1", "capture_1", "full JACK port name"),
      ("keys:out", "\"keys:\"", "full JACK port name"), ("system:capture_1", "{a: b}", "write text"),
    ])
  func wrongConnections(word: String, replacement: String, message: String) {
    let error = #expect(throws: DescriptionError.self) {
      try read(Self.preset.replacing(word, with: replacement))
    }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }
}
