import Acoustics
import AudioFiles
import Foundation
import Presets
import Simulation
import TestSupport
import Testing

@Suite("Scenes")
struct SceneTests {
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
  static let voice = BandlimitedSignalTests.sine(500, rate: 48000, seconds: 1)

  /// Without a body, so that the closed form of the free field is the oracle.
  static func phone(_ talkers: Talker...) throws -> Scene {
    Scene(title: "test", device: TestDevices.phone5(body: .free), talkers: talkers)
  }

  @Test(
    "a scene gives every microphone its channel, to the last talker's end", arguments: [16000, 44100, 48000])
  func shape(rate: Int) throws {
    let scene = try Self.phone(
      Talker(voice: Self.voice, direction: .plusX), Talker(voice: Self.voice, direction: .plusY, start: 0.75))
    let heard = try scene.microphones(sampleRate: rate)
    #expect(heard.sampleRate == rate)
    #expect(heard.channels.map(\.count) == Array(repeating: Int(1.75 * Double(rate)), count: 5))
  }

  @Test("a scene is the sum of its talkers, each at its time and with its gain, to -80 dB")
  func sum() throws {
    let scene = try Self.phone(
      Talker(voice: Self.voice, direction: .plusX, start: 0.25, gain: Decibels(-20)),
      Talker(voice: Self.voice, direction: Direction.plusZ.opposite, gain: Decibels(6)))
    let heard = try scene.microphones(sampleRate: 48000)
    for (microphone, channel) in zip(scene.device.microphones, heard.channels) {
      let first = Sine.samples(
        frequency: 500, rate: 48000, count: 48000, shift: -0.25 + microphone.position.x / 343, amplitude: 0.1)
      let second = Sine.samples(
        frequency: 500, rate: 48000, count: 48000, shift: -microphone.position.z / 343,
        amplitude: pow(10, 0.3))
      let both = zip(first, second).map { $0 + $1 }
      #expect(errorLevel(channel[1000..<11000], second[1000..<11000]) <= -80)
      #expect(errorLevel(channel[13000..<47000], both[13000..<47000]) <= -80)
    }
  }

  @Test("an overload is reported with its microphone, and otherwise nothing")
  func overload() throws {
    let names = try Self.library.device(named: "phone5").microphones.map(\.name)
    let quiet = try Self.phone(Talker(voice: Self.voice, direction: .plusX, gain: Decibels(-1)))
    #expect(try quiet.microphones(sampleRate: 48000).overload(names: names) == nil)
    let loud = AudioClip(sampleRate: 48000, channels: [[0.5], [-2]])
    #expect(
      loud.overload(names: names)
        == "bottom-right exceeds full scale by 6.1 dB; lower the gain of the talkers"
    )
  }

  @Test("a scene with too many reflections is refused with what to do")
  func tooMuch() throws {
    let frame = try #require(HeadFrame(forward: .plusZ, orientation: .portrait))
    let room = Room(
      frame: frame, size: [5, 5, 5], device: [2, 2, 2], absorption: Room.Absorption(0.1),
      order: Room.highestOrder)
    let long = BandlimitedSignalTests.sine(500, rate: 8000, seconds: 60)
    let path = Path(try #require(Place(position: [1, 1, 1])))
    let scene = Scene(
      title: "", device: TestDevices.phone5(body: .free), talkers: [Talker(voice: long, path: path)],
      room: room)
    let error = #expect(throws: SceneError.self) { try scene.microphones(sampleRate: 8000) }
    #expect(error?.description.contains("lower the room's order") == true)
  }

  @Test(
    "an impossible start time or sample rate is an error and not a crash",
    arguments: [1e300, -1e300, .nan, .infinity, 299.5])
  func impossibleStarts(start: Double) throws {
    let scene = try Self.phone(Talker(voice: Self.voice, direction: .plusX, start: start))
    #expect(throws: SceneError.self) { try scene.microphones(sampleRate: 48000) }
    let sane = try Self.phone(Talker(voice: Self.voice, direction: .plusX))
    #expect(throws: SceneError.self) { try sane.microphones(sampleRate: 0) }
  }

  @Test("a scene file places talkers as the listener of its case sees them")
  func azimuths() throws {
    let text = """
      title: Directions
      device: phone5
      facing: {dataSource: Back, inputOrientation: landscapeRight}
      talkers:
        - {voice: noise, seconds: 0.1, from: front}
        - {voice: noise, seconds: 0.1, azimuth: 90}
        - {voice: noise, seconds: 0.1, azimuth: 0, elevation: 90}
        - {voice: noise, seconds: 0.1, from: Right, start: 1.5, gain: -6}
        - {voice: noise, seconds: 0.1, direction: [0, 3, 4]}
        - {voice: noise, seconds: 0.1, direction: -x}
      """
    let scene = try Scene(text: text, file: "scene.yaml", folder: "", library: Self.library)
    // system.md: Back, landscapeRight has left at +y and up at +x.
    let expected: [SIMD3<Double>] = [
      [0, 0, -1], [0, 1, 0], [1, 0, 0], [0, -1, 0], [0, 0.6, 0.8], [-1, 0, 0],
    ]
    for (talker, direction) in zip(scene.talkers, expected) {
      #expect((talker.direction.vector - direction).length < 1e-12)
    }
    #expect(scene.talkers[3].start == 1.5)
    #expect(scene.talkers[3].gain == Decibels(-6))
    #expect(abs(scene.duration - 1.6) < 1e-3)
  }

  @Test("every device has a shipped scene")
  func forEveryDevice() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: repositoryFolder + "/Presets/scenes")
    for device in Self.library.deviceNames() {
      #expect(names.contains { $0.hasPrefix(device + "-") && $0.hasSuffix(".yaml") }, "\(device)")
    }
  }

  @Test(
    "shipped scenes are neither too soft nor too loud", .long,
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/sounds/alsa"), "no alsa-utils here"),
    arguments: [
      "phone2-street", "phone3-interview", "phone4-room", "phone5-walk", "phone5-voices", "ring7-meeting",
      "tetra-around", "glasses8-passing", "linear8-stage",
    ])
  func everyShipped(name: String) throws {
    let scene = try Scene(file: repositoryFolder + "/Presets/scenes/\(name).yaml", library: Self.library)
    #expect(name.hasPrefix(scene.device.name + "-"))
    // Boxes are simulated as free field here: solving all of them takes a while, and DiffractionTests cover
    // one.
    let device = try Device(
      name: scene.device.name, title: "", body: .free, microphones: scene.device.microphones,
      dataSources: scene.device.dataSources)
    let free = Scene(
      title: scene.title, device: device, talkers: scene.talkers, room: scene.room, noise: scene.noise)
    let heard = try free.microphones(sampleRate: 8000)
    #expect(heard.overload(names: []) == nil)
    #expect(
      heard.channels.allSatisfy { level($0) > -45 && level($0) < -10 }, "\(heard.channels.map { level($0) })")
  }

  @Test(
    "the shipped voices come from the front, left, right and behind, without overload", .long,
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/sounds/alsa"), "no alsa-utils here"))
  func shipped() throws {
    let scene = try Scene(
      file: repositoryFolder + "/Presets/scenes/phone5-voices.yaml", library: Self.library)
    #expect(scene.talkers.map(\.direction.vector) == [[0, 0, -1], [-1, 0, 0], [1, 0, 0], [0, 0, 1]])
    let heard = try scene.microphones(sampleRate: 16000)
    #expect(heard.overload(names: []) == nil)
    #expect(heard.channels.allSatisfy { level($0) > -40 && level($0) < -10 })
  }

  @Test("a voice of several channels is their mean, and its path is relative to the scene file")
  func relativeVoice() throws {
    let folder = try TemporaryFolder()
    try AudioClip(sampleRate: 8000, channels: [[1, 0, 0.5], [0, 0.5, 0.5]]).write(wav: folder.path + "/v.wav")
    let path = try folder.write(
      "title: t\ndevice: ring7\ntalkers: [{voice: v.wav, direction: +z}]\n", to: "scene.yaml")
    let scene = try Scene(file: path, library: Self.library)
    let centre = try #require(try scene.microphones(sampleRate: 8000).channels.last)
    for (got, expected) in zip(centre, [0.5, 0.25, 0.5] as [Float]) { #expect(abs(got - expected) < 1e-4) }
  }

  @Test("a scene's device may be a file, as all verbs take it, relative to the scene's folder")
  func deviceFile() throws {
    let folder = try TemporaryFolder()
    let device = try String(contentsOfFile: repositoryFolder + "/Presets/devices/ring7.yaml", encoding: .utf8)
    let path = try folder.write(device, to: "arrays/mine.yaml")
    for word in ["arrays/mine.yaml", "./arrays/mine.yaml", path] {
      let scene = try folder.write(
        "title: t\ndevice: \(word)\ntalkers: [{voice: noise, direction: +z}]\n", to: "scene.yaml")
      #expect(try Scene(file: scene, library: Self.library).device.name == "mine")
    }
    let none = try folder.write(
      "title: t\ndevice: ./none.yaml\ntalkers: [{voice: noise, direction: +z}]\n", to: "scene.yaml")
    let error = #expect(throws: DescriptionError.self) { try Scene(file: none, library: Self.library) }
    #expect(
      error?.description.contains("none.yaml") == true && error?.description.contains("no such file") == true)
  }

  @Test("a scene file may have talkers at distances and on paths, a room, and noise")
  func places() throws {
    let text = """
      title: All of it
      device: phone5
      facing: {dataSource: Back, inputOrientation: portrait}
      room:
        size: [5, 4, 2.5]
        device: [2, 1.5, 1]
        absorption: {front: 0.1, back: 0.2, left: 0.3, right: 0.4, ceiling: 0.5, floor: 0.6}
        order: 1
      noise: {sensor: -70, diffuse: -50}
      talkers:
        - {voice: noise, seconds: 0.1, from: left, distance: 1.5}
        - {voice: noise, seconds: 0.1, position: [2, 0, 0]}
        - voice: noise
          path: [{at: 0, azimuth: 90, distance: 1}, {at: 2, azimuth: -90, distance: 1.2}]
        - voice: noise
          path: [{at: 1, position: [2, 2, 0]}, {at: 3, position: [2, -1, 1]}]
      """
    let scene = try Scene(text: text, file: "scene.yaml", folder: "", library: Self.library)
    // Back, portrait: forward −z, left −x, up +y.
    func position(_ talker: Int, at time: Double) -> Position {
      let place = scene.talkers[talker].path.place(at: time)
      return (place.distance ?? .nan) * place.direction.vector
    }
    for (talker, time, expected) in [
      (0, 0.0, [-1.5, 0, 0]), (1, 5, [0, 0, -2]), (2, -1, [-1, 0, 0]), (2, 1, [0, 0, -1.1]),
      (2, 9, [1.2, 0, 0]),
      (3, 0, [-2, 0, -2]), (3, 2, [-0.5, 0.5, -2]), (3, 4, [1, 1, -2]),
    ] as [(Int, Double, Position)] {
      #expect((position(talker, at: time) - expected).length < 1e-12, "\(talker) at \(time) s")
    }
    let room = try #require(scene.room)
    #expect(room.absorption == Room.Absorption(low: [0.2, 0.4, 0.6], high: [0.1, 0.3, 0.5]))
    #expect(room.size == [5, 4, 2.5] && room.device == [2, 1.5, 1] && room.order == 1)
    #expect(scene.noise == SceneNoise(sensor: Decibels(-70), diffuse: Decibels(-50)))
  }

  @Test(
    "a mistake in a scene file is reported in one line with place and remedy",
    arguments: [
      ("device: phone5", "device: phone9", "2:9: device cannot be used: there is no device \"phone9\""),
      ("azimuth: 90", "azimuth: 900", "5:29: talkers[1].azimuth is 900, out of range"),
      ("azimuth: 90", "from: beside", "5:26: talkers[1].from has an unknown direction \"beside\""),
      ("azimuth: 90", "gain: 0", "5:5: talkers[1] has none of direction, azimuth, from, position and path"),
      (
        "voice: noise", "voice: /no/such.wav",
        "5:13: talkers[1].voice cannot be used: cannot read /no/such.wav"
      ),
      (
        "voice: noise", "voice: /dev/zero",
        "5:13: talkers[1].voice cannot be used: /dev/zero is not a regular"
      ),
      ("voice: noise", "voice: noise, seconds: 1e9", "5:29: talkers[1].seconds is 1e9, out of range"),
      ("voice: noise", "voice: noise, start: 299.5", "5:3: talkers last until 301 s"),
      (
        "inputOrientation: portrait", "inputOrientation: sideways",
        "3:46: facing.inputOrientation has an unknown"
      ),
      ("facing:", "facing_:", "3:1: the file has an unknown key \"facing_\""),
      (
        "facing: {dataSource: Back, inputOrientation: portrait}", "",
        "5:29: talkers[1].azimuth needs a listener"
      ),
      ("azimuth: 90", "azimuth: 90, distance: 0.1", "5:43: talkers[1].distance is 0.1, out of range"),
      ("azimuth: 90", "position: [1, 0]", "5:30: talkers[1].position has 2 numbers; write three"),
      ("azimuth: 90", "position: [0.1, 0, 0]", "5:30: talkers[1].position comes within 0.3 m of the device"),
      (
        "azimuth: 90", "position: [1, 0, 0], distance: 2",
        "5:51: talkers[1].distance is allowed only with direction"
      ),
      ("azimuth: 90", "path: []", "5:26: talkers[1].path has 0 waypoints"),
      ("azimuth: 90", "path: [{azimuth: 3}]", "5:27: talkers[1].path[1] has no key \"at\""),
      (
        "azimuth: 90", "path: [{at: 1, azimuth: 0}, {at: 1, azimuth: 9}]",
        "5:53: talkers[1].path[2].at does not come after"
      ),
      (
        "azimuth: 90", "path: [{at: 0, azimuth: 0}, {at: 0.1, azimuth: 90}]",
        "5:26: talkers[1].path moves faster than 100 m/s or 720° per second"
      ),
      (
        "azimuth: 90", "path: [{at: 0, position: [-1, 0.1, 0]}, {at: 4, position: [1, 0.1, 0]}]",
        "5:26: talkers[1].path comes within 0.3 m"
      ),
      (
        "azimuth: 90", "path: [{at: 0, azimuth: 0}, {at: 1, position: [1, 0, 0]}]",
        "5:26: talkers[1].path mixes positions and angles"
      ),
      (
        "azimuth: 90", "path: [{at: 0, azimuth: 0, distance: 1}, {at: 1, azimuth: 3}]",
        "5:26: talkers[1].path has a distance in only some"
      ),
      (
        "talkers:", "room: {size: [4, 4, 3], device: [2, 2, 1], absorption: 0.5}\ntalkers:",
        "6:29: talkers[1].azimuth has no distance, which every talker in a room needs"
      ),
      (
        "talkers:", "room: {size: [4, 4, 3], device: [2, 5, 1], absorption: 0.5}\ntalkers:",
        "4:33: room.device is not inside the room"
      ),
      (
        "talkers:", "room: {size: [4, 4, 3], device: [2, 2, 1], absorption: 1.5}\ntalkers:",
        "4:56: room.absorption is 1.5, out of range"
      ),
      (
        "talkers:", "room: {size: [4, 4, 3], device: [2, 2, 1], absorption: 0.5, order: 99}\ntalkers:",
        "4:68: room.order is 99, out of range"
      ),
      (
        "talkers:", "room: {size: [4, 4, 3], device: [2, 2, 1], absorption: {front: 1}}\ntalkers:",
        "4:56: room.absorption has no key \"back\""
      ),
      ("talkers:", "noise: {sensor: 3}\ntalkers:", "4:17: noise.sensor is 3, out of range"),
      ("talkers:", "noise: loud\ntalkers:", "4:8: noise is"),
    ])
  func errors(old: String, new: String, expected: String) {
    let text = """
      title: One voice
      device: phone5
      facing: {dataSource: Back, inputOrientation: portrait}
      talkers:
        - {voice: noise, azimuth: 90}
      """
    let error = #expect(throws: DescriptionError.self) {
      try Scene(
        text: text.replacingOccurrences(of: old, with: new), file: "s.yaml", folder: "", library: Self.library
      )
    }
    let message = error?.description ?? ""
    #expect(message.hasPrefix("s.yaml:" + expected), "\(message)")
    #expect(!message.contains("\n") && message.contains(";"), "\(message)")
  }
}
