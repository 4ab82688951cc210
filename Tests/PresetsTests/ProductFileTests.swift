import Acoustics
import Foundation
import Presets
import TestSupport
import Testing

/// What device files of real products say beyond positions.
@Suite("Device files of products") struct ProductFileTests {
  static let table = """
    format: 2
    title: Ring
    placement: table
    body: free
    geometry: {source: a data sheet, certainty: published, leavesOut: the housing}
    hardware:
      usb: ["2886:0018"]
      card: [ArrayUAC10]
      channels: 6
      rates: [16000]
      processed: {1: install the firmware with 6 channels}
    microphones:
      right: {position: [32, 0, 0], channel: 2}
      top: {position: [0, 32, 0], channel: 3, capsule: cardioid, faces: [0, 1, 0]}
      left: {position: [-32, 0, 0], channel: 5, gain: -1.5, delay: 20, polarity: inverted}
      bottom: {position: [0, -32, 5], channel: 4, capsule: 0.6, faces: [0, 0, 1]}
    dataSources:
      Front:
        forward: +y
        microphones: all
        polarPatterns: [omnidirectional, cardioid, stereo]
    """

  static func device(_ text: String = table) throws -> Device {
    try DeviceFile.read(YAMLReader(text: text, file: "ring.yaml"))
  }

  static func isNear(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Bool { (a - b).length < 1e-9 }

  @Test(
    "the card's ID of each shipped file is the one that its comments give; none, where it has a part of the name"
  )
  func cardIDs() throws {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    var found: [String: String] = [:]
    for name in try library.deviceNames() { found[name] = try library.device(named: name).hardware?.cardID }
    #expect(
      found == [
        "matrix-creator": "MATRIXIOSOUND", "matrix-voice": "MATRIXIOSOUND", "ps-eye": "CameraB409241",
        "respeaker-4mic-hat": "seeed4micvoicec", "respeaker-6mic-hat": "seeed8micvoicec",
        "respeaker-usb-v2": "ArrayUAC10", "uma16": "UMA16v2", "zylia-zm1": "ZM13E",
      ])
  }

  @Test(
    "a drawing of a table lies down: its top is the front, its right what is right of somebody who looks there"
  )
  func table() throws {
    let device = try Self.device()
    // Relative to the centroid, which lies 1.25 mm above the table.
    let centroid = SIMD3(0, 0.00125, 0)
    let places = device.microphones.map { $0.position + centroid }
    #expect(Self.isNear(places[0], [-0.032, 0, 0]) && Self.isNear(places[1], [0, 0, 0.032]))
    #expect(Self.isNear(places[3], [0, 0.005, -0.032]))
    let front = try device.dataSource(named: "Front")
    #expect(front.forward == .plusZ && front.orientation == .front)
    #expect(front.stereoOrientations == [.portrait, .portraitUpsideDown])
    let frame = try #require(HeadFrame(forward: front.forward, orientation: .portrait))
    #expect(device.microphones[0].position.dot(frame.right.vector) > 0.03)
    #expect(device.layout(frame).sides?.left == "-x, microphone left")
    #expect(device.layout(frame).sides?.right == "+x, microphone right")
  }

  @Test("capsules, deviations, channels, hardware and geometry are read") func fields() throws {
    let device = try Self.device()
    #expect(device.microphones[0].capsule == nil && device.microphones[0].deviation == .none)
    let top = try #require(device.microphones[1].capsule)
    #expect(top.omnidirectionalPart == 0.5 && Self.isNear(top.facing.vector, [0, 0, 1]))
    let bottom = try #require(device.microphones[3].capsule)
    #expect(bottom.omnidirectionalPart == 0.6 && Self.isNear(bottom.facing.vector, [0, 1, 0]))
    let left = device.microphones[2].deviation
    #expect(left.gain == Decibels(-1.5) && abs(left.delay - 20e-6) < 1e-12 && left.isInverted)
    #expect(device.captureChannels == [2, 3, 5, 4])
    #expect(
      device.hardware
        == Hardware(
          usb: ["2886:0018"], cards: ["ArrayUAC10"], channels: 6, rates: [16000],
          processed: [1: "install the firmware with 6 channels"]))
    #expect(
      device.geometry
        == Geometry(source: "a data sheet", certainty: .published, leavesOut: "the housing"))
  }

  @Test(
    "a mistake is refused with its place and what to do",
    arguments: [
      ("format: 2", "format: 3", "1:9", "format is a later format than this Pinna reads, which is 2"),
      ("placement: table", "placement: floor", "3:12", "unknown placement \"floor\""),
      ("certainty: published", "certainty: sure", "5:45", "unknown certainty \"sure\""),
      ("\"2886:0018\"", "\"2886\"", "7:9", "write vendor and product as lsusb does"),
      ("channels: 6", "channels: 4", "9:13", "is 4, but a microphone is on capture channel 5"),
      ("channel: 3,", "channel: 2,", "14:8", "is on capture channel 2, like right"),
      ("capsule: cardioid, ", "", "14:50", "is given without capsule"),
      ("capsule: cardioid", "capsule: stereo", "14:52", "is stereo, which no capsule is"),
      (", faces: [0, 1, 0]", "", "14:8", "has no key \"faces\""),
      ("capsule: 0.6", "capsule: 1.6", "16:56", "out of range; write a number from 0 to 1"),
      ("polarity: inverted", "polarity: odd", "15:78", "unknown polarity \"odd\""),
      ("delay: 20", "delay: 2000", "15:64", "out of range; write a number from -250 to 250 µs"),
      (
        "body: free", "body: {sphere: 32}", "14:52",
        "is directional, which is modelled only with \"body: free\""
      ),
      ("channel: 2}", "channel: 2.5}", "13:42", "write a whole number"),
    ])
  func mistakes(old: String, new: String, place: String, message: String) throws {
    let text = Self.table.replacingOccurrences(of: old, with: new)
    try #require(text != Self.table)
    let error = #expect(throws: DescriptionError.self) { try Self.device(text) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    #expect(error?.description.hasPrefix("ring.yaml:\(place): ") == true, "\(error?.description ?? "")")
  }

  @Test("microphones of a cylinder lie on its surface, whose axis is vertical") func cylinder() throws {
    func device(_ placement: String, _ position: String) throws -> Device {
      try Self.device(
        """
        title: Can
        placement: \(placement)
        body: {cylinder: 50}
        microphones: {only: \(position)}
        dataSources: {Front: {forward: \(placement == "table" ? "+y" : "+z"), microphones: all, polarPatterns: [omnidirectional]}}
        """)
    }
    let upright = try device("upright", "[50, 120, 0]")
    #expect(upright.body == .cylinder(radius: 0.05))
    let lying = try device("table", "[0, 50, 120]")
    #expect(Self.isNear(lying.microphones[0].position, [0, 0.12, 0.05]))
    let error = #expect(throws: DescriptionError.self) { try device("table", "[0, 40, 120]") }
    #expect(error?.description.contains("10.0 mm inside the body") == true)
    #expect(error?.description.contains("nearest point is [0.0, 50.0, 120.0] mm") == true)
  }

  @Test("a box drawn from above lies down with its microphones") func box() throws {
    let device = try Self.device(
      """
      title: Speaker
      placement: table
      body: {box: [100, 60, 30]}
      microphones: {a: [50, 0, 0], b: [0, 30, 0], c: [0, 0, 15]}
      dataSources: {Front: {forward: +y, microphones: all, polarPatterns: [omnidirectional]}}
      """)
    guard case .box(let box) = device.body else {
      Issue.record("no box")
      return
    }
    #expect(Self.isNear(box.size, [0.1, 0.03, 0.06]))
    #expect(Self.isNear(device.microphones[1].position, [0, 0, 0.03]))
    #expect(Self.isNear(device.microphones[2].position, [0, 0.015, 0]))
  }

  @Test("left and right of a ring are named by axis and microphone, those of a phone by its edges")
  func words() throws {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let ring = try library.device(named: "ring7").layout(frame)
    #expect(ring.sides?.left == "-x, microphone ring-1" && ring.sides?.right == "+x, microphone ring-4")
    #expect(try library.device(named: "phone5").layout(frame) == frame.layout)
  }

  @Test("a box has edges to name left and right by where people face it, not where it lies or is worn")
  func boxes() throws {
    for (placement, forward, words) in [
      ("upright", "+z", "the right edge"), ("camera", "+z", "the right edge"),
      ("table", "+y", "-x, microphone a"), ("worn", "+z", "+x, microphone b"),
    ] {
      let device = try Self.device(
        """
        title: Speaker
        placement: \(placement)
        body: {box: [100, 60, 30]}
        microphones: {a: [-50, 0, 0], b: [50, 0, 0]}
        dataSources: {Front: {forward: \(forward), microphones: all, polarPatterns: [omnidirectional, stereo]}}
        """)
      let frame = try #require(HeadFrame(forward: device.dataSources[0].forward, orientation: .portrait))
      #expect(device.layout(frame).words.left == words, "\(placement)")
    }
  }

  @Test("a data source to the left on a drawing, or of a wearer, is called left")
  func orientations() throws {
    for (placement, left) in [("table", "-x"), ("worn", "+x"), ("upright", "-x"), ("camera", "-x")] {
      let device = try Self.device(
        """
        title: Ring
        placement: \(placement)
        body: free
        microphones: {a: [-50, 0, 0], b: [50, 0, 0]}
        dataSources: {Left: {forward: \(left), microphones: all, polarPatterns: [omnidirectional]}}
        """)
      #expect(device.dataSources[0].orientation == .left, "\(placement)")
    }
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    for name in library.deviceNames() {
      for source in try library.device(named: name).dataSources where ["Left", "Right"].contains(source.name)
      {
        #expect(source.orientation.rawValue == source.name.lowercased(), "\(name)")
      }
    }
  }
}
