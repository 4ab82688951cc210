import Acoustics
import AudioFiles
import Glibc

/// Talkers around a device, far away and standing still, in the free field.
public struct Scene: Sendable {
  /// The longest scene, in seconds.
  public static let longest = 300.0
  /// The rates at which a scene can be heard.
  public static let sampleRates = 8000...192_000
  /// Samples that a scene may fill in all channels together: 1 GiB.
  private static let sampleLimit = 1 << 28

  public let title: String
  public let device: Device
  public let talkers: [Talker]

  public init(title: String, device: Device, talkers: [Talker]) {
    self.title = title
    self.device = device
    self.talkers = talkers
  }

  /// Seconds until the last talker has finished.
  public var duration: Double { talkers.map(\.end).max() ?? 0 }

  /// What the device's microphones hear, a channel each, from the scene's beginning to the last talker's end.
  /// It is the plain sum of the voices: see `AudioClip.overload(names:)` for when that is too much.
  public func microphones(sampleRate: Int) throws(SceneError) -> AudioClip {
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
    let channels = device.microphones.map { microphone in
      var sum = [Float](repeating: 0, count: count)
      for talker in talkers { talker.add(to: &sum, at: microphone.position, rate: sampleRate) }
      return sum
    }
    return AudioClip(sampleRate: sampleRate, channels: channels)
  }
}

extension Talker {
  /// How long before its start and after its end a voice may still be heard, in seconds: 5 m of array, and the
  /// ends of the interpolation at 8 kHz.
  private static let margin = 0.03

  /// Adds what a microphone at `position` hears of this talker.
  fileprivate func add(to sum: inout [Float], at position: Position, rate: Int) {
    let first = max(0, Int(((start - Self.margin) * Double(rate)).rounded(.down)))
    let last = min(sum.count, Int(((end + Self.margin) * Double(rate)).rounded(.up)))
    guard first < last else { return }
    let wave = PlaneWave(signal: voice, from: direction)
    let heard = wave.heard(
      at: position, rate: rate, count: last - first, start: Double(first) / Double(rate) - start)
    let amplitude = Float(gain.amplitude)
    for (n, value) in heard.enumerated() { sum[first + n] += amplitude * value }
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
