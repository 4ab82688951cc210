import Acoustics
import Detection
import Foundation
import Presets
import TestSupport
import Testing

/// Arrays from the firmware of laptops.
@Suite("Microphones in a laptop's lid") struct LidArrayTests {
  static func card(_ tree: String) throws -> SoundCard {
    try #require(DetectionTests.cards(tree).first).card
  }

  static func array(_ tree: String) throws -> LidArray { try LidArray(card(tree).digitalMicrophones) }

  /// Positions in millimetres.
  static func positions(_ array: LidArray) -> [SIMD3<Double>] { array.microphones.map { 1000 * $0.position } }

  static func isNear(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool { (a - b).length < 1e-9 }

  /// As `nhlt-dmic-info` writes them; what is nil is left out.
  static func described(_ microphones: [[String: Any]]) throws -> [DigitalMicrophone] {
    try DigitalMicrophone.list(
      json: String(decoding: JSONSerialization.data(withJSONObject: ["mics": microphones]), as: UTF8.self))
  }

  static func omni(_ channel: Int, _ x: Int, _ y: Int = 0, panel: String = "top") -> [String: Any] {
    [
      "channel": channel, "type": "omnidirectional", "location": "laptop-\(panel)-panel",
      "horizontal-offset": x,
      "vertical-offset": y,
    ]
  }

  @Test("offsets are millimetres, those that are left out are zero, and the middle is the origin")
  func lines() throws {
    for (tree, expected) in [("laptop", [-20.0, 20]), ("laptop-four", [-66, -22, 22, 66])] {
      let array = try Self.array(tree)
      #expect(array.panel == "top" && !array.isMeasured && array.saysCapsules)
      #expect(array.microphones.map(\.name) == expected.indices.map { "mic-\($0 + 1)" })
      #expect(array.microphones.map(\.channel) == expected.indices.map { $0 + 1 })
      for (position, x) in zip(Self.positions(array), expected) { #expect(Self.isNear(position, [x, 0, 0])) }
    }
  }

  @Test("only differences of offsets count")
  func differences() throws {
    let here = try LidArray(Self.described([Self.omni(0, -30, 1), Self.omni(1, 30), Self.omni(2, 0, 9)]))
    let there = try LidArray(
      Self.described([Self.omni(0, 70, -4), Self.omni(1, 130, -5), Self.omni(2, 100, 4)]))
    #expect(here == there)
    #expect(Self.isNear(Self.positions(here)[2], [0, 4.5, 0]))
  }

  @Test("channels give the order, and one without a microphone stays free")
  func channels() throws {
    let array = try LidArray(Self.described([Self.omni(3, 40), Self.omni(0, -40)]))
    #expect(array.microphones.map(\.channel) == [1, 4])
    #expect(Self.isNear(Self.positions(array)[1], [40, 0, 0]))
  }

  @Test("capsules and angles of a vendor's array, which is described once for each of two rates")
  func capsules() throws {
    let array = try Self.array("laptop-vendor")
    #expect(array.microphones.count == 4 && array.panel == "front" && !array.saysCapsules)
    #expect(array.microphones.map { $0.capsule?.omnidirectionalPart } == [0.5, 0.5, 0.25, nil])
    let facing = array.microphones.compactMap { $0.capsule?.facing.vector }
    let (half, root) = (0.5, 0.5.squareRoot())
    #expect(Self.isNear(facing[0], [0, 0, 1]))
    #expect(Self.isNear(facing[1], [half, 0, 0.75.squareRoot()]))
    // 30° to the other side, then up by 45°.
    #expect(Self.isNear(facing[2], [-half * root, root, 0.75.squareRoot() * root]))
    for (word, part) in [("subcardoid", 0.7), ("supercardoid", 0.366), ("8shaped", 0)] {
      var one = Self.omni(1, 30, panel: "rear")
      one["type"] = word
      let capsule = try LidArray(Self.described([Self.omni(0, 0, panel: "rear"), one])).microphones[1].capsule
      #expect(capsule?.omnidirectionalPart == part)
      // On the back of the lid, straight ahead is away from the user.
      #expect(Self.isNear(try #require(capsule).facing.vector, [0, 0, -1]))
    }
  }

  @Test("what the firmware does not say, or cannot mean, is refused with what to do about it")
  func faults() throws {
    #expect(throws: LidArrayFault.undescribed) { try Self.array("laptop-named") }
    #expect(throws: LidArrayFault.together(2)) { try Self.array("laptop-zero") }
    #expect(throws: LidArrayFault.extent(65535)) { try Self.array("laptop-nonsense") }
    let omni = Self.omni
    var turned = omni(1, 20, 0, "top")
    (turned["type"], turned["direction-angle"]) = ("cardoid", 900)
    let lists: [([[String: Any]], LidArrayFault)] = [
      ([omni(0, 5, 0, "top")], .single), ([omni(0, 0, 0, "top"), omni(1, 4, 0, "top")], .extent(4)),
      ([omni(0, .min, 0, "top"), omni(1, .max, 0, "top")], .extent(1_000_000_000)),
      ([omni(0, 0, 0, "top"), omni(0, 40, 0, "top")], .channels),
      ([omni(0, 0, 0, "top"), omni(-1, 40, 0, "top")], .channels),
      ([omni(0, 0, 0, "top"), omni(1, 40, 0, "top"), omni(2, 40, 0, "top")], .some),
      ([omni(0, 0, 0, "top"), omni(1, 40, 0, "bottom")], .panels(["bottom", "top"])),
      ([omni(0, 0, 0, "left"), omni(1, 40, 0, "left")], .side("left")),
      ([omni(0, 0, 0, "top"), turned], .angles),
    ]
    for (list, fault) in lists {
      #expect(throws: fault) { try LidArray(Self.described(list)) }
      #expect(
        fault.description.contains(" add --microphones N --spacing MM")
          || fault.description.contains(" add --spacing MM"), "\(fault)")
    }
  }

  @Test("on a lid, microphones are on its face, near the edge of their panel")
  func lid() throws {
    let size: SIMD3<Double> = [0.31, 0.21, 0.006]
    for (panel, y, z) in [("top", 98.0, 3.0), ("bottom", -98, 3), ("rear", 98, -3)] {
      let array = try LidArray(
        Self.described([Self.omni(0, -30, 0, panel: panel), Self.omni(1, 30, 4, panel: panel)]))
      let middle = try array.on(lid: size).map { 1000 * $0.position }.reduce(.zero, +) / 2
      #expect(Self.isNear(middle, [0, y, z]), "\(panel): \(middle)")
    }
    let four = try Self.array("laptop-four")
    #expect(throws: LidArrayFault.tooSmall) { try four.on(lid: [0.13, 0.2, 0.006]) }
    #expect(throws: LidArrayFault.directional) { try Self.array("laptop-vendor").on(lid: size) }
  }

  @Test("the device of the digital microphones is the first that the kernel calls so; other cards have none")
  func device() throws {
    for tree in ["laptop", "laptop-four", "laptop-named"] {
      let card = try Self.card(tree)
      #expect(card.digitalDevice == 6 && card.isLaptop)
    }
    for tree in ["uma8-raw", "webcam", "kinect"] {
      #expect(DetectionTests.cards(tree).allSatisfy { $0.card.digitalDevice == nil && !$0.card.isLaptop })
    }
  }

  @Test(
    "the file of a laptop says where the microphones are, which card has them, and how certain that is",
    arguments: ["laptop", "laptop-four", "laptop-vendor"])
  func file(tree: String) throws {
    let array = try Self.array(tree)
    let template = LaptopTemplate(
      array.microphones, lid: nil, cards: ["sofhdadsp", "sof-hda-dsp"], device: 6, isMeasured: false,
      remarks: ["Two: words.", "# more"])
    let device = try DeviceFile.read(YAMLReader(text: template.text(name: "mine"), file: "mine.yaml"))
    #expect(device.placement == .camera && device.body == .free)
    #expect(
      device.geometry?.certainty == .inferred && device.geometry?.source.hasPrefix("from firmware") == true)
    #expect(device.geometry?.doubt != nil && device.geometry?.leavesOut == "the lid and the base")
    #expect(
      device.hardware
        == Hardware(
          cards: ["sofhdadsp", "sof-hda-dsp"], device: 6, channels: array.microphones.count, rates: [48000]))
    for (read, given) in zip(device.microphones, array.microphones) {
      #expect((read.position - given.position).length < 1e-5 && read.name == given.name)
      #expect(read.capsule?.omnidirectionalPart == given.capsule?.omnidirectionalPart)
      if let capsule = given.capsule {
        #expect((try #require(read.capsule).facing.vector - capsule.facing.vector).length < 0.02)
      }
    }
    #expect(device.captureChannels == array.microphones.map(\.channel))
    let match = DetectedCard(try Self.card(tree), among: [device]).matches
    #expect(match.map(\.certainty) == [.likely] && match.first?.isUsable == true)
  }
}
