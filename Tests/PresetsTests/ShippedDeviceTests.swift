import Acoustics
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Presets
import TestSupport
import Testing

@Suite("Shipped devices")
struct ShippedDeviceTests {
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  @Test(
    "every shipped device has its filters at 44.1 and 48 kHz, a product at those of its rates, one of 2 to 4 microphones and phone5 those without each, Ambisonic microphones their B-format, and there are no outdated ones (make filters)"
  )
  func filters() throws {
    let folder = repositoryFolder + "/Presets/filters"
    var expected = Set<String>()
    for name in Self.library.deviceNames() {
      let device = try Self.library.device(named: name)
      let rates = device.hardware?.rates.filter([16_000, 44_100, 48_000].contains) ?? [44_100, 48_000]
      #expect(!rates.isEmpty)
      for rate in rates {
        expected.insert(try Self.shippedName(of: device, at: rate))
      }
      // Microphones that are sold for B-format; their device files say so.
      if ["tetramic", "ambeo-vr", "h3-vr"].contains(name) {
        let selection = Selection(
          dataSource: "Front", polarPattern: .ambix1, inputOrientation: .portrait)
        expected.insert(try Self.shippedName(of: device.ambisonics(selection), at: 48_000))
      }
      guard (2...4).contains(device.microphones.count) || name == "phone5" else { continue }
      let rate = rates.contains(48_000) ? 48_000 : 16_000
      for microphone in device.microphones {
        expected.insert(try Self.shippedName(of: device.without(microphones: [microphone.name]), at: rate))
      }
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(files) == Set(expected.flatMap { ["\($0).json", "\($0).wav"] }) && files.count <= 300)
  }

  /// The name of the stored filters of `device`, which are complete.
  static func shippedName(of device: Device, at rate: Int) throws -> String {
    let bank = try FilterBank.cached(
      device: device, sampleRate: rate, cache: "/dev/null/none",
      shipped: [repositoryFolder + "/Presets/filters"]
    ) { _ in Issue.record("\(device.name) is designed at \(rate) Hz") }
    #expect(bank.cases.count + bank.refusals.count == device.filterCases.count)
    return FilterBank.storedName(device: device, sampleRate: rate)
  }

  /// Positions of acoustics.md, section 5, in millimetres.
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
    "phone2": [("bottom", [0, -73.5, 0]), ("top", [0, 73.5, 0])],
    "phone3": [("bottom", [0, -73.5, 0]), ("front", [0, 65, 4]), ("back", [0, 65, -4])],
    "phone4": [
      ("bottom-left", [-25, -73.5, 0]), ("bottom-right", [25, -73.5, 0]), ("front", [0, 65, 4]),
      ("back", [24, 62, -4]),
    ],
    "tetra": [
      ("front-right-up", corner(1, 1, 1)), ("back-right-down", corner(1, -1, -1)),
      ("back-left-up", corner(-1, 1, -1)), ("front-left-down", corner(-1, -1, 1)),
    ],
    // The oracle's HEAD8: azimuth from the wearer's left, elevation, in degrees.
    "glasses8": [
      ("right-ear", onHead(-95, 0)), ("left-ear", onHead(95, 0)), ("right-temple", onHead(-75, 5)),
      ("left-temple", onHead(75, 5)), ("right-brow", onHead(-30, 10)), ("left-brow", onHead(30, 10)),
      ("bridge", onHead(0, 15)), ("forehead", onHead(0, 30)),
    ],
  ]

  static func corner(_ x: Double, _ y: Double, _ z: Double) -> SIMD3<Double> {
    10 / 3.0.squareRoot() * SIMD3(x, y, z)
  }

  static func onHead(_ azimuth: Double, _ elevation: Double) -> SIMD3<Double> {
    let (a, e) = (azimuth * .pi / 180, elevation * .pi / 180)
    return 87.5 * SIMD3(cos(e) * sin(a), sin(e), cos(e) * cos(a))
  }

  @Test(
    "shipped devices have their microphones at the positions of acoustics.md, to a micrometre",
    arguments: positions.keys.sorted()
  )
  func microphonePositions(name: String) throws {
    let device = try Self.library.device(named: name)
    let expected = try #require(Self.positions[name])
    #expect(device.microphones.map(\.name) == expected.map(\.0))
    for (microphone, (_, millimetres)) in zip(device.microphones, expected) {
      #expect((microphone.position - millimetres / 1000).length < 1e-6, "\(microphone.name)")
    }
  }

  @Test("shipped devices have the bodies of acoustics.md")
  func bodies() throws {
    for name in ["phone2", "phone3", "phone4", "phone5"] {
      #expect(try Self.library.device(named: name).body == .box(size: SIMD3(72, 147, 8) / 1000))
    }
    for name in ["ring7", "tetra", "linear8"] {
      #expect(try Self.library.device(named: name).body == .free)
    }
    #expect(try Self.library.device(named: "glasses8").body == .sphere(radius: 0.0875))
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

  @Test(
    "older phones have the data sources of acoustics.md, and stereo only with four microphones",
    arguments: [
      ("phone2", ["Bottom", "Top"], [["bottom"], ["top"]], [[.omnidirectional], [.omnidirectional]]),
      (
        "phone3", ["Bottom", "Front", "Back"], [["bottom"], ["front", "back"], ["back", "front"]],
        [[.omnidirectional], [.omnidirectional, .cardioid], [.omnidirectional, .subcardioid]]
      ),
      (
        "phone4", ["Bottom", "Front", "Back"], [["bottom-left"], ["front", "back"], ["back", "front"]],
        [
          [.omnidirectional], [.omnidirectional, .subcardioid, .cardioid, .stereo],
          [.omnidirectional, .subcardioid, .cardioid, .stereo],
        ]
      ),
    ] as [(String, [String], [[String]], [[PolarPattern]])])
  func otherPhones(name: String, sources: [String], used: [[String]], patterns: [[PolarPattern]]) throws {
    let device = try Self.library.device(named: name)
    #expect(device.dataSources.map(\.name) == sources)
    #expect(device.dataSources.map(\.id) == sources.indices.map { 1_835_216_945 + UInt32($0) })
    #expect(device.dataSources.map { $0.microphones.map { device.microphones[$0].name } } == used)
    #expect(device.dataSources.map(\.polarPatterns) == patterns)
  }

  @Test("ring7 has four directions with all its microphones, and upright stereo to the front and back")
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
    "every shipped device with stereo has a preset of its name in stereo and portrait",
    arguments: [
      ("phone4", "Back"), ("phone5", "Back"), ("ring7", "Front"), ("glasses8", "Front"), ("linear8", "Front"),
    ])
  func presets(name: String, dataSource: String) throws {
    let preset = try Self.library.preset(named: name)
    #expect(preset.device == name)
    #expect(preset.main.gain == Decibels(0))
    #expect(
      preset.main.selection
        == Selection(dataSource: dataSource, polarPattern: .stereo, inputOrientation: .portrait))
  }
}
