import Acoustics
import Session
import TestSupport
import Testing

@Suite("The devices that ship")
struct ShippedDeviceTests {
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  /// acoustics.md, section 5; millimetres.
  static let positions: [String: [(String, SIMD3<Double>)]] = [
    "phone5": [
      ("bottom-left", [-25, -73.5, 0]), ("bottom-right", [25, -73.5, 0]), ("front", [0, 65, 4]),
      ("back", [24, 62, -4]), ("top", [0, 73.5, 0]),
    ],
    "ring7": [
      ("ring-1", [43, 0, 0]), ("ring-2", [21.5, 0, 37.2390923]), ("ring-3", [-21.5, 0, 37.2390923]),
      ("ring-4", [-43, 0, 0]), ("ring-5", [-21.5, 0, -37.2390923]), ("ring-6", [21.5, 0, -37.2390923]),
      ("centre", [0, 0, 0]),
    ],
    "linear8": [
      ("line-1", [-245, 0, 0]), ("line-2", [-175, 0, 0]), ("line-3", [-105, 0, 0]), ("line-4", [-35, 0, 0]),
      ("line-5", [35, 0, 0]), ("line-6", [105, 0, 0]), ("line-7", [175, 0, 0]), ("line-8", [245, 0, 0]),
    ],
  ]

  @Test(
    "have their microphones where acoustics.md puts them, to a micrometre",
    arguments: ["phone5", "ring7", "linear8"]
  )
  func microphonePositions(name: String) throws {
    let device = try Self.library.device(named: name)
    let expected = try #require(Self.positions[name])
    #expect(device.microphones.map(\.name) == expected.map(\.0))
    for (microphone, (_, millimetres)) in zip(device.microphones, expected) {
      #expect((microphone.position - millimetres / 1000).length < 1e-6, "\(microphone.name)")
    }
  }

  @Test("have the bodies of acoustics.md")
  func bodies() throws {
    #expect(try Self.library.device(named: "phone5").body == .box(size: SIMD3(72, 147, 8) / 1000))
    #expect(try Self.library.device(named: "ring7").body == .free)
    #expect(try Self.library.device(named: "linear8").body == .free)
  }

  @Test("phone5 has the data sources of acoustics.md, with the seeds' ids")
  func phone5Sources() throws {
    let device = try Self.library.device(named: "phone5")
    #expect(device.dataSources.map(\.name) == ["Bottom", "Front", "Back"])
    #expect(device.dataSources.map(\.id) == [1_835_216_945, 1_835_216_946, 1_835_216_947])
    #expect(device.dataSources.map(\.location) == [.lower, .upper, .upper])
    #expect(device.dataSources.map(\.orientation) == [.bottom, .front, .back])
    #expect(device.dataSources.map(\.forward.vector) == [[0, -1, 0], [0, 0, 1], [0, 0, -1]])
    let used = device.dataSources.map { $0.microphones.map { device.microphones[$0].name } }
    #expect(used == [["bottom-left"], ["front", "back", "top"], ["back", "front", "top"]])
    let beams: [PolarPattern] = [
      .omnidirectional, .subcardioid, .cardioid, .supercardioid, .hypercardioid, .stereo,
    ]
    #expect(device.dataSources.map(\.polarPatterns) == [[.omnidirectional], beams, beams])
    let all = InputOrientation.allCases
    #expect(device.dataSources.map(\.stereoOrientations) == [[], all, all])
  }

  @Test("ring7 looks four ways with all its microphones, in stereo to the front and back held upright")
  func ring7Sources() throws {
    let device = try Self.library.device(named: "ring7")
    #expect(device.dataSources.map(\.name) == ["Front", "Back", "Left", "Right"])
    #expect(device.dataSources.map(\.forward.vector) == [[0, 0, 1], [0, 0, -1], [-1, 0, 0], [1, 0, 0]])
    #expect(device.dataSources.map(\.orientation) == [.front, .back, .left, .right])
    #expect(device.dataSources.allSatisfy { $0.location == nil && Set($0.microphones) == Set(0..<7) })
    let mono = PolarPattern.allCases.filter { $0 != .stereo }
    #expect(device.dataSources.map(\.polarPatterns) == [mono + [.stereo], mono + [.stereo], mono, mono])
    let upright: [InputOrientation] = [.portrait, .portraitUpsideDown]
    #expect(device.dataSources.map(\.stereoOrientations) == [upright, upright, [], []])
  }

  @Test("linear8 offers no cardioids")
  func linear8Sources() throws {
    let device = try Self.library.device(named: "linear8")
    #expect(device.dataSources.map(\.name) == ["Front", "Back"])
    for source in device.dataSources {
      #expect(source.polarPatterns == [.omnidirectional, .stereo])
      #expect(source.stereoOrientations == [.portrait, .portraitUpsideDown])
      #expect(source.microphones == Array(0..<8))
    }
  }

  @Test(
    "each have a preset of their name, in stereo and portrait",
    arguments: [("phone5", "Back"), ("ring7", "Front"), ("linear8", "Front")])
  func presets(name: String, dataSource: String) throws {
    let preset = try Self.library.preset(named: name)
    #expect(preset.device == name)
    #expect(preset.gain == Decibels(0))
    #expect(
      preset.selection
        == Selection(dataSource: dataSource, polarPattern: .stereo, inputOrientation: .portrait))
  }
}
