import Acoustics
import AudioFiles
import Glibc
import Manifolds

/// Talkers around a device, in the free field or in a room, with noise.
public struct Scene: Sendable {
  /// Maximum duration in seconds.
  public static let maximumDuration = 300.0
  /// Sample rates at which a scene can be rendered, in hertz.
  public static let sampleRates = 8000...192_000
  /// Maximum number of samples in all channels together: 1 GiB.
  private static let sampleLimit = 1 << 28
  /// Maximum total duration, in seconds, of all waves: voices, reflections and diffuse noise. Moving waves count five
  /// times. The limit corresponds to about five minutes of computation.
  private static let waveLimit = 15_000.0

  public let title: String
  public let device: Device
  public let talkers: [Talker]
  public let room: Room?
  public let noise: SceneNoise
  /// By microphone of the device.
  public let errors: [Int: ChannelError]

  public init(
    title: String, device: Device, talkers: [Talker], room: Room? = nil, noise: SceneNoise = SceneNoise(),
    errors: [Int: ChannelError] = [:]
  ) {
    self.title = title
    self.device = device
    self.talkers = talkers
    self.room = room
    self.noise = noise
    self.errors = errors
  }

  /// What is odd about the files of its voices: one sentence each, once.
  public var remarks: [String] {
    talkers.flatMap(\.remarks).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Seconds until the last talker has finished and the last reflection has arrived.
  public var duration: Double {
    voiceWaves.map { $0.talker.end + $0.maximumDistance / speedOfSound }.max() ?? 0
  }

  /// Renders the whole scene: one channel per microphone of the device.
  ///
  /// The result is deterministic. It is not limited to full scale: `AudioClip.overload(names:)` tells whether it
  /// exceeds it.
  /// - Parameters:
  ///   - bodyCache: a folder of solved boxes, of which the body may be one; it is stored there if it is not. Nil solves
  ///     it each time. The result is the same to the bit.
  ///   - progress: called with the solved fraction of a box, 0…1, from any thread, one call at a time.
  ///   - mixing: called after that with the fraction of the waves that are added, 0…1, from any thread.
  /// - Throws: `SceneError` if the scene exceeds a limit or the body cannot be solved.
  public func microphones(
    sampleRate: Int, bodyCache: String? = nil, progress: (@Sendable (Double) -> Void)? = nil,
    mixing: (@Sendable (Double) -> Void)? = nil
  ) throws(SceneError) -> AudioClip {
    let count = try checkedLength(sampleRate)
    let seconds = Double(count) / Double(sampleRate)
    let waves = voiceWaves + noise.talkers(seconds: seconds).map { Wave($0) }
    let work = waves.reduce(0) { $0 + $1.work }
    guard work <= Self.waveLimit else {
      throw SceneError(
        "the scene has \(Int(work)) s of sound in all voices, reflections and noise waves together; the limit is "
          + "\(Int(Self.waveLimit)) s: lower the room's order or shorten the scene")
    }
    let body: Diffraction?
    do {
      body = try Diffraction(
        device: device, sampleRate: sampleRate, solutions: bodyCache.map { BoxSolutions(folder: $0) },
        progress: progress)
    } catch {
      throw SceneError(error.description)
    }
    let mixer = MicrophoneMixer(device: device, rate: sampleRate, count: count, body: body)
    mixer.progress = mixing
    mixer.work = work * Double(device.microphones.count)
    mixer.addStationary(waves.filter(\.talker.path.isStationary))
    for wave in waves where !wave.talker.path.isStationary { mixer.addMoving(wave) }
    mixing?(1)
    let channels = mixer.signals.enumerated().map { m, signal in
      var channel = signal.deviating(by: device.microphones[m].deviation, rate: sampleRate)
      noise.addSensorNoise(to: &channel, microphone: m)
      return channel
    }
    return AudioClip(
      sampleRate: sampleRate, channels: ChannelError.applied(errors, to: channels, rate: sampleRate))
  }

  /// All propagation paths of all talkers' voices: direct sound and reflections.
  private var voiceWaves: [Wave] {
    let images = room.map { $0.imageSources.map(Optional.some) } ?? [nil]
    return talkers.flatMap { talker in images.map { Wave(talker, image: $0) } }
  }

  /// The length of the scene in frames.
  /// - Throws: `SceneError` if the sample rate, the duration or the size exceeds its limit.
  private func checkedLength(_ sampleRate: Int) throws(SceneError) -> Int {
    guard Self.sampleRates.contains(sampleRate) else {
      throw SceneError(
        "a scene cannot be rendered at \(sampleRate) Hz; use a sample rate from \(Self.sampleRates.lowerBound) to "
          + "\(Self.sampleRates.upperBound) Hz")
    }
    guard talkers.allSatisfy({ $0.start >= -Self.maximumDuration && $0.end <= Self.maximumDuration }) else {
      throw SceneError(
        "the scene is longer than \(Int(Self.maximumDuration)) s; start or end its talkers earlier")
    }
    let count = Int((duration * Double(sampleRate)).rounded(.up))
    guard count * device.microphones.count <= Self.sampleLimit else {
      throw SceneError(
        "the scene needs more than 1 GiB at \(sampleRate) Hz; shorten it, or lower the sample rate")
    }
    return count
  }
}

extension AudioClip {
  /// A message that names the loudest channel if it exceeds full scale; nil if no channel does.
  /// - Parameter names: of the channels.
  public func overload(names: [String]) -> String? {
    let peaks = channels.map { $0.lazy.map(abs).max() ?? 0 }
    guard let loudest = peaks.indices.max(by: { peaks[$0] < peaks[$1] }), peaks[loudest] > 1 else {
      return nil
    }
    let tenths = (200 * log10(Double(peaks[loudest]))).rounded(.up)
    let name = loudest < names.count ? names[loudest] : "channel \(loudest + 1)"
    return "\(name) exceeds full scale by \(tenths / 10) dB; lower the gain of the talkers"
  }
}

/// Why a scene cannot be rendered, as one sentence.
public struct SceneError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
