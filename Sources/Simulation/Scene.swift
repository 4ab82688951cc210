import Acoustics
import AudioFiles
import Glibc

/// Talkers around a device, in the open or in a room, and noise.
public struct Scene: Sendable {
  /// The longest scene, in seconds.
  public static let longest = 300.0
  /// The rates at which a scene can be heard.
  public static let sampleRates = 8000...192_000
  /// Samples that a scene may fill in all channels together: 1 GiB.
  private static let sampleLimit = 1 << 28
  /// Seconds that all voices, their reflections and the waves of diffuse noise may last together, one that moves
  /// counting five times: about five minutes of work.
  private static let waveLimit = 15_000.0

  public let title: String
  public let device: Device
  public let talkers: [Talker]
  public let room: Room?
  public let noise: SceneNoise

  public init(
    title: String, device: Device, talkers: [Talker], room: Room? = nil, noise: SceneNoise = SceneNoise()
  ) {
    self.title = title
    self.device = device
    self.talkers = talkers
    self.room = room
    self.noise = noise
  }

  /// Seconds until the last talker has finished, and the last reflection has arrived.
  public var duration: Double { voices.map { $0.talker.end + $0.farthest / speedOfSound }.max() ?? 0 }

  /// What the device's microphones hear, a channel each, from the scene's beginning to its end.
  /// It is the plain sum of the voices and the noise: see `AudioClip.overload(names:)` for when that is too much.
  /// Equal scenes make equal signals.
  /// - Parameter progress: called with what part of a box is solved, 0…1, from any thread, one call at a time.
  public func microphones(
    sampleRate: Int, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(SceneError) -> AudioClip {
    let count = try checkedLength(sampleRate)
    let seconds = Double(count) / Double(sampleRate)
    let waves = voices + noise.talkers(seconds: seconds).map { Wave($0) }
    let work = waves.reduce(0) { $0 + $1.talker.voice.duration * ($1.talker.path.isStill ? 1 : 5) }
    guard work <= Self.waveLimit else {
      throw SceneError(
        "the scene has \(Int(work)) s of sound to follow, reflections and noise included, and "
          + "\(Int(Self.waveLimit)) s is the most; lower the order of the room, or shorten it")
    }
    let body: Diffraction?
    do {
      body = try Diffraction(device: device, sampleRate: sampleRate, progress: progress)
    } catch {
      throw SceneError(error.description)
    }
    let listeners = Listeners(device: device, rate: sampleRate, count: count, body: body)
    listeners.hear(still: waves.filter(\.talker.path.isStill))
    for wave in waves where !wave.talker.path.isStill { listeners.hear(moving: wave) }
    return AudioClip(
      sampleRate: sampleRate,
      channels: listeners.signals.enumerated().map { m, heard in
        var channel = heard
        noise.addSensorNoise(to: &channel, microphone: m)
        return channel
      })
  }

  /// Every way that a talker's voice takes to the device.
  private var voices: [Wave] {
    let images = room.map { $0.images.map(Optional.some) } ?? [nil]
    return talkers.flatMap { talker in images.map { Wave(talker, image: $0) } }
  }

  /// Frames of the scene.
  private func checkedLength(_ sampleRate: Int) throws(SceneError) -> Int {
    guard Self.sampleRates.contains(sampleRate) else {
      throw SceneError(
        "a scene cannot be heard at \(sampleRate) Hz; use a rate from \(Self.sampleRates.lowerBound) to "
          + "\(Self.sampleRates.upperBound) Hz")
    }
    guard talkers.allSatisfy({ $0.start >= -Self.longest && $0.end <= Self.longest }) else {
      throw SceneError("the scene takes longer than \(Int(Self.longest)) s; start or end its talkers earlier")
    }
    let count = Int((duration * Double(sampleRate)).rounded(.up))
    guard count * device.microphones.count <= Self.sampleLimit else {
      throw SceneError("the scene fills more than 1 GiB at \(sampleRate) Hz; shorten it, or lower the rate")
    }
    return count
  }
}

extension AudioClip {
  /// What to say where the loudest channel passes full scale; nil where none does. `names` are the channels'.
  public func overload(names: [String]) -> String? {
    let peaks = channels.map { $0.lazy.map(abs).max() ?? 0 }
    guard let loudest = peaks.indices.max(by: { peaks[$0] < peaks[$1] }), peaks[loudest] > 1 else {
      return nil
    }
    let tenths = (200 * log10(Double(peaks[loudest]))).rounded(.up)
    let name = loudest < names.count ? names[loudest] : "channel \(loudest + 1)"
    return "\(name) passes full scale by \(tenths / 10) dB; lower the gain of the talkers"
  }
}

/// Why a scene cannot be heard, as one sentence.
public struct SceneError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
