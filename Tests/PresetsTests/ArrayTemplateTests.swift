import Acoustics
import Presets
import TestSupport
import Testing

/// The files that `pinna device new` writes.
@Suite("Templates of arrays") struct ArrayTemplateTests {
  static let shapes: [ArrayTemplate.Shape] = [
    .ring(microphones: 6, radius: 40), .line(microphones: 5, spacing: 30),
    .grid(columns: 3, rows: 2, spacing: 25), .box(microphones: 4, size: [72, 147, 8]),
    .sphere(microphones: 12, radius: 50),
  ]

  static func device(_ template: ArrayTemplate) throws -> Device {
    try DeviceFile.read(YAMLReader(text: template.text(name: "mine"), file: "mine.yaml"))
  }

  @Test("every shape in every placement is a valid device that offers stereo", arguments: shapes)
  func valid(shape: ArrayTemplate.Shape) throws {
    for placement in Placement.allCases {
      let template = ArrayTemplate(shape, placement: placement)
      let device = try Self.device(template)
      #expect(device.placement == placement && device.microphones.count == template.microphones.count)
      #expect(device.dataSources[0].stereoOrientations.first == .portrait)
      // Only a template that is placed as it is drawn gives no advice.
      #expect(device.placementAdvice == nil, "\(placement)")
    }
  }

  @Test("the figures asked for are those of the array: radius, spacing, columns, size")
  func figures() throws {
    let ring = try Self.device(
      ArrayTemplate(.ring(microphones: 8, radius: 35), placement: .table, hasCentre: true))
    #expect(ring.microphones.map(\.name).last == "centre" && ring.microphones.count == 9)
    for microphone in ring.microphones.dropLast() {
      #expect(abs(microphone.position.length - 0.035) < 1e-5 && abs(microphone.position.y) < 1e-9)
    }
    // The first of the ring is at the top of the drawing, which is the front.
    #expect(ring.microphones[0].position.z > 0.0349)
    let line = try Self.device(ArrayTemplate(.line(microphones: 5, spacing: 30), placement: .upright))
    #expect(abs(line.extent.x - 0.12) < 1e-9 && line.extent.y == 0 && line.extent.z == 0)
    #expect(line.microphones[0].position.x < 0)
    let grid = try Self.device(ArrayTemplate(.grid(columns: 3, rows: 2, spacing: 25), placement: .upright))
    #expect(abs(grid.extent.x - 0.05) < 1e-9 && abs(grid.extent.y - 0.025) < 1e-9)
    #expect(grid.microphones[0].position.x < 0 && grid.microphones[0].position.y > 0)
    let box = try Self.device(ArrayTemplate(.box(microphones: 4, size: [72, 147, 8]), placement: .upright))
    #expect(box.body == .box(size: [0.072, 0.147, 0.008]))
    let worn = try Self.device(ArrayTemplate(.ring(microphones: 8, radius: 90), placement: .worn))
    #expect(worn.extent.y < 1e-9 && worn.extent.z > 0.17 && worn.dataSources.map(\.name) == ["Front"])
  }

  @Test(
    "a centre changes no other microphone's capture channel, and is what the omnidirectional pattern hears")
  func centre() throws {
    for (shape, placement) in [
      (.ring(microphones: 6, radius: 40), .table), (.ring(microphones: 8, radius: 90), .worn),
      (.box(microphones: 4, size: [72, 147, 8]), .upright),
    ] as [(ArrayTemplate.Shape, Placement)] {
      let bare = try Self.device(ArrayTemplate(shape, placement: placement))
      let device = try Self.device(ArrayTemplate(shape, placement: placement, hasCentre: true))
      for microphone in bare.microphones {
        let channel = bare.captureChannels[bare.microphoneIndex(named: microphone.name)!]
        #expect(device.captureChannels[device.microphoneIndex(named: microphone.name)!] == channel)
      }
      #expect(device.captureChannels[device.microphoneIndex(named: "centre")!] == bare.microphones.count + 1)
      for source in device.dataSources {
        #expect(
          device.microphones[source.microphones[0]].name == "centre"
            && source.microphones.count == device.microphones.count)
      }
    }
  }

  @Test("a flat array that looks along y is told to lie on a table, and to say so")
  func advice() throws {
    let text = ArrayTemplate(.ring(microphones: 6, radius: 40), placement: .table).text(name: "mine")
      .replacing("placement: table ", with: "placement: upright ")
    let withoutStereo = text.replacing(", stereo]", with: "]")
    let device = try DeviceFile.read(YAMLReader(text: withoutStereo, file: "mine.yaml"))
    #expect(device.placementAdvice?.contains("write placement: table") == true)
    let inPortrait = text.replacing(", stereo]", with: ", stereo]\n    stereoOrientations: [portrait]")
    let error = #expect(throws: DescriptionError.self) {
      try DeviceFile.read(YAMLReader(text: inPortrait, file: "mine.yaml"))
    }
    #expect(try #require(error).description.contains("or write placement: table"), "\(error!)")
    for name in ["phone5", "ring7", "kinect-v1", "macbook", "uma8"] {
      let shipped = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
      #expect(shipped.placementAdvice == nil, "\(name)")
    }
  }
}

/// What is selected on a device without a preset.
@Suite("Preset of a device") struct PresetOfDeviceTests {
  static func preset(_ patterns: [PolarPattern], stereo: [InputOrientation] = []) -> Preset {
    let source = TestDevices.source("Back", .back, .plusZ, microphones: [0, 1], patterns, stereo: stereo)
    let other = TestDevices.source("Front", .front, .plusZ, microphones: [0], [.omnidirectional])
    return Preset(
      of: try! Device(
        name: "x", title: "An X", body: .free,
        microphones: TestDevices.microphones([("a", 0, 0, 0), ("b", 9, 0, 0)]), dataSources: [source, other]))
  }

  @Test("it is stereo in the first orientation, or else the cardioid, or else the first pattern, at 0 dB")
  func selection() {
    let stereo = Self.preset([.omnidirectional, .cardioid, .stereo], stereo: [.landscapeLeft, .portrait])
    #expect(stereo.main.selection.dataSource == "Back" && stereo.main.selection.polarPattern == .stereo)
    #expect(stereo.main.selection.inputOrientation == .landscapeLeft)
    #expect(stereo.name == "x" && stereo.device == "x" && stereo.title == "An X")
    #expect(stereo.main.gain.value == 0 && stereo.main.highPass == .off)
    #expect(Self.preset([.omnidirectional, .cardioid]).main.selection.polarPattern == .cardioid)
    #expect(Self.preset([.subcardioid, .omnidirectional]).main.selection.polarPattern == .subcardioid)
    #expect(Self.preset([.omnidirectional]).main.selection.inputOrientation == .portrait)
  }

  @Test("every shipped device supports what is selected on it without a preset")
  func shipped() throws {
    let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
    for name in library.deviceNames() {
      let device = try library.device(named: name)
      #expect(throws: Never.self) { try device.filterCase(for: Preset(of: device).main.selection) }
    }
  }
}
