import Acoustics
import Foundation
import Manifolds
import Simulation
import TestSupport
import Testing

@Suite("Moving talkers")
struct MovingTalkerTests {
  static let frame = HeadFrame(forward: .plusZ, orientation: .portrait)!
  static let frequency = 700.0

  static func scene(_ path: Path, body: Body = .free, seconds: Double = 2) -> Scene {
    let voice = BandlimitedSignalTests.sine(frequency, rate: 48000, seconds: seconds)
    return Scene(
      title: "", device: TestDevices.phone5(body: body), talkers: [Talker(voice: voice, path: path)])
  }

  @Test(
    "a voice sampled at arbitrary times equals its interpolation, to -80 dB",
    arguments: [(48000, 48000), (44100, 48000), (48000, 16000)])
  func anyTimes(from: Int, to: Int) {
    let voice = BandlimitedSignalTests.sine(1000, rate: from)
    // Accelerating, unlike resampling at a fixed rate.
    let times = (0..<to / 5).map { 0.1 + Double($0) / Double(to) + 1e-3 * pow(Double($0) / Double(to), 2) }
    let expected = times.map { Float(sin(2 * .pi * 1000 * $0)) }
    #expect(errorLevel(voice.sampled(rate: to, at: times), expected) <= -80)
  }

  /// Speech at time u arrives at the origin at u + (D − v·u)/c, where its level is 1/(D − v·u) of that at 1
  /// m. A microphone at r receives it earlier by d·r/c.
  @Test("a talker that approaches or recedes has the Doppler shift", arguments: [10.0, -10, 34.3])
  func doppler(speed: Double) throws {
    let start = 100.0
    let direction = try #require(Direction([2, -1, 0.5]))
    let path = Path(straight: [
      (0, start * direction.vector), (2, (start - 2 * speed) * direction.vector),
    ])
    let scene = Self.scene(path)
    let heard = try scene.microphones(sampleRate: 48000)
    for (microphone, channel) in zip(scene.device.microphones, heard.channels) {
      let lead = direction.vector.dot(microphone.position) / 343
      // Before the talker stops, and long after its voice begins.
      let frames = 19_200..<76_800
      let expected = frames.map { n in
        let atOrigin = (Double(n) / 48000 - start / 343) / (1 - speed / 343)
        let spoken = (Double(n) / 48000 + lead - start / 343) / (1 - speed / 343)
        return Float(sin(2 * .pi * Self.frequency * spoken) / (start - speed * atOrigin))
      }
      #expect(errorLevel(channel[frames], expected) <= -80, "\(microphone.name)")
    }
  }

  @Test("a distant talker that circles the device reaches each microphone d(t)·r/c earlier, without clicks")
  func turning() throws {
    let path = Path(
      around: Self.frame,
      [(0, .degrees(90), .degrees(0), nil), (2, .degrees(-270), .degrees(30), nil)])
    let scene = Self.scene(path)
    let heard = try scene.microphones(sampleRate: 48000)
    for (microphone, channel) in zip(scene.device.microphones, heard.channels) {
      let frames = 2000..<94_000
      let expected = frames.map { n in
        let t = Double(n) / 48000
        let direction = Self.frame.direction(
          azimuth: .degrees(90 - 180 * t), elevation: .degrees(15 * t))
        let lead = direction.vector.dot(microphone.position) / 343
        return Float(sin(2 * .pi * Self.frequency * (t + lead)))
      }
      #expect(errorLevel(channel[frames], expected) <= -80, "\(microphone.name)")
    }
  }

  /// The response of a body to a tone, from the series of a rigid sphere, at every moment.
  @Test("a talker that circles a head has the head's response of each direction, without clicks")
  func aroundHead() throws {
    let radius = 0.0875
    let device = try Device(
      name: "head", title: "", body: .sphere(radius: radius),
      microphones: [
        Microphone(name: "ear", position: [radius, 0, 0]),
        Microphone(name: "nose", position: [0, 0, radius]),
      ], dataSources: [])
    let voice = BandlimitedSignalTests.sine(2000, rate: 48000, seconds: 2)
    let path = Path(
      around: Self.frame, [(0, .degrees(-60), .degrees(0), nil), (2, .degrees(60), .degrees(0), nil)])
    let heard = try Scene(title: "", device: device, talkers: [Talker(voice: voice, path: path)])
      .microphones(sampleRate: 48000)
    let frames = Array(stride(from: 4000, to: 92_000, by: 1))
    let directions = frames.map {
      Self.frame.direction(azimuth: .degrees(-60 + 60 * Double($0) / 48000)).vector
    }
    let manifold = RigidSphereManifold(positions: device.microphones.map(\.position), radius: radius)
    let grid = manifold.responses(from: directions, frequencies: [2000])
    for m in 0..<2 {
      let expected = frames.enumerated().map { i, n in
        let h = grid[0, m, i]
        return Float(h.magnitude * sin(2 * .pi * 2000 * Double(n) / 48000 + h.phase))
      }
      let got = frames.map { heard.channels[m][$0] }
      // Crossfades between directions 3° apart.
      #expect(errorLevel(got, expected) <= -45, "microphone \(m): \(errorLevel(got, expected))")
      // A click is wide-band: the difference from the expected tone has no content at 8 kHz.
      let rest = zip(got, expected).map { $0 - $1 }
      let high = zip(rest.dropFirst(), rest).map { $0 - $1 }
      #expect(level(high) <= -70, "\(level(high))")
    }
  }

  @Test("a talker that stays in one place on a path equals a fixed talker, to the last bits of a float")
  func fixed() throws {
    let place = Path(straight: [(0, [1, 2, -1]), (1, [1, 2, -1])])
    let direct = Path(try #require(Place(position: [1, 2, -1])))
    let (a, b) = (
      try Self.scene(place, seconds: 0.2).microphones(sampleRate: 48000),
      try Self.scene(direct, seconds: 0.2).microphones(sampleRate: 48000)
    )
    for (got, expected) in zip(a.channels, b.channels) { #expect(errorLevel(got, expected) <= -120) }
  }
}
