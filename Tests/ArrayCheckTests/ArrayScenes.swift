import Acoustics
import AudioFiles
import Foundation
import Presets
import Simulation
import TestSupport

/// Recordings of simulated arrays: talkers around the array, in a room or in the open, with noise.
enum ArrayScenes {
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])
  static let rate = 48000
  /// The box is solved on a fine mesh, which takes its time.
  static let devices =
    ["linear8", "uma8", "glasses8", "tetramic"] + (ArrayCheckTests.isThorough ? ["phone5"] : [])

  static func device(_ name: String) throws -> Device { try library.device(named: name) }

  enum Kind: CaseIterable { case oneTalker, severalTalkers, noises, diffuse }

  /// Speech: the voices of alsa-utils; bursts of noise where they are not installed.
  private static let voices: [BandlimitedSignal] = {
    let folder = "/usr/share/sounds/alsa"
    let files = ["Front_Center", "Front_Left", "Rear_Right", "Side_Left", "Side_Right"]
    let clips = files.compactMap { try? AudioClip(path: "\(folder)/\($0).wav") }
    if clips.isEmpty { return (1...5).map { burst(seed: $0, seconds: 1.3) } }
    return clips.map { BandlimitedSignal(samples: $0.channels[0], sampleRate: $0.sampleRate) }
  }()

  private static func burst(seed: Int, seconds: Double) -> BandlimitedSignal {
    var random = SeededNoise(seed: UInt64(seed))
    let count = Int(seconds * 48000)
    let samples = random.samples(count, amplitude: 0.1).enumerated().map { n, x in
      x * Float(0.5 - 0.5 * cos(2 * .pi * 4 * Double(n) / 48000))
    }
    return BandlimitedSignal(samples: samples, sampleRate: 48000)
  }

  /// The microphones' signals, without errors.
  /// - Parameters:
  ///   - sides: number of voices, one after another.
  ///   - snr: level of the voices above the sensor noise in dB.
  static func recording(
    of device: Device, kind: Kind, sides: Int = 5, room: Bool, snr: Double, seed: Int, seconds: Double = 4
  ) throws -> [[Float]] {
    var random = SeededNoise(seed: UInt64(seed))
    func direction() -> Direction {
      let azimuth = Double.random(in: -.pi...Double.pi, using: &random)
      let height = Double.random(in: -0.35...0.6, using: &random)
      return Direction([sin(azimuth), height, cos(azimuth)])!
    }
    let step = seconds / Double(sides)
    let first = direction()
    var talkers: [Talker] = []
    if kind != .diffuse {
      for n in 0..<sides {
        let voice =
          kind == .noises
          ? burst(seed: 100 * seed + n, seconds: 0.9 * step) : voices[(n + seed) % voices.count]
        let towards = kind == .oneTalker ? first : direction()
        let distance = Double.random(in: 1.0...2.0, using: &random)
        talkers.append(
          Talker(voice: voice, path: Path(Place(towards, distance: distance)), start: step * Double(n)))
      }
    } else {
      let quiet = BandlimitedSignal(
        samples: [Float](repeating: 0, count: Int(seconds * 48000)), sampleRate: 48000)
      talkers = [Talker(voice: quiet, direction: .plusZ)]
    }
    let frame = HeadFrame(forward: .plusZ, orientation: .portrait)!
    let walls = Room(
      frame: frame, size: [5.2, 4.4, 2.6], device: [2.4, 2.1, 1.1], absorption: .init(0.35),
      order: ArrayCheckTests.isThorough ? 2 : 1)
    let scene = Scene(
      title: "test", device: device, talkers: talkers, room: room && kind != .diffuse ? walls : nil,
      noise: SceneNoise(diffuse: kind == .diffuse ? Decibels(-30) : nil))
    let clip = try scene.microphones(sampleRate: rate)
    let level =
      clip.channels.map { channel in
        (channel.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(channel.count)).squareRoot()
      }.reduce(0, +) / Double(clip.channels.count)
    let noise = Float(level * pow(10, -snr / 20) * 3.0.squareRoot())
    return clip.channels.map { channel in
      zip(channel, random.samples(channel.count, amplitude: noise)).map { $0 + $1 }
    }
  }

  /// A device whose microphones are up to `millimetres` from where its file has them. On bodies they stay on the surface.
  static func displaced(_ device: Device, by millimetres: Double, seed: Int) -> Device {
    var random = SeededNoise(seed: UInt64(seed) &+ 77)
    let moved = device.microphones.map { microphone in
      func error() -> Double { Double.random(in: -millimetres...millimetres, using: &random) / 1000 }
      var position = microphone.position + [error(), error(), error()]
      if case .sphere(let sphere) = device.body { position *= sphere.radius / position.length }
      return Microphone(
        name: microphone.name, position: position, capsule: microphone.capsule, channel: microphone.channel)
    }
    return try! Device(
      name: device.name, title: device.title, body: device.body, placement: device.placement,
      microphones: moved, dataSources: device.dataSources)
  }

  static func scaled(_ signals: [[Float]], by decibels: [Double]) -> [[Float]] {
    zip(signals, decibels).map { signal, gain in signal.map { $0 * Float(pow(10, gain / 20)) } }
  }

  /// `signal` later by a whole number of frames.
  static func late(_ signal: [Float], frames: Int) -> [Float] {
    [Float](repeating: 0, count: frames) + signal.dropLast(frames)
  }
}
