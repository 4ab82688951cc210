import Acoustics
import AudioFiles
import Dispatch
import FilterDesign
import Glibc
import Synchronization

/// Talkers around a device, far away and standing still; nothing but the device's body is in their way.
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
  /// - Parameter progress: called with what part of a box is solved, 0…1, from any thread, one call at a time.
  public func microphones(
    sampleRate: Int, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(SceneError) -> AudioClip {
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
    let directions = Array(Set(talkers.map(\.direction)))
    let diffraction: Diffraction?
    do {
      diffraction = try Diffraction(
        device: device, directions: directions, sampleRate: sampleRate, progress: progress)
    } catch {
      throw SceneError(error.description)
    }
    let channels = Mutex([[Float]](repeating: [], count: device.microphones.count))
    DispatchQueue.concurrentPerform(iterations: device.microphones.count) { m in
      var sum = [Float](repeating: 0, count: count)
      for talker in talkers {
        talker.add(
          to: &sum, at: device.microphones[m].position, rate: sampleRate, early: diffraction?.early ?? 0,
          taps: diffraction?.taps ?? 1
        ) { wave in
          diffraction?.heard(wave, direction: directions.firstIndex(of: talker.direction)!, microphone: m)
            ?? wave
        }
      }
      channels.withLock { [sum] in $0[m] = sum }
    }
    return AudioClip(sampleRate: sampleRate, channels: channels.withLock { $0 })
  }
}

extension Talker {
  /// How long before its start and after its end a voice may still be heard, in seconds: 5 m of array, and the
  /// ends of the interpolation at 8 kHz.
  private static let margin = 0.03

  /// Adds what a microphone at `position` hears of this talker.
  /// - Parameters:
  ///   - early, taps: of the body's impulse responses.
  ///   - body: what the body makes of the free field, which is given `taps - 1` frames more.
  fileprivate func add(
    to sum: inout [Float], at position: Position, rate: Int, early: Int, taps: Int,
    body: ([Float]) -> [Float]
  ) {
    let margin = Self.margin + Double(taps) / Double(rate)
    let first = max(0, Int(((start - margin) * Double(rate)).rounded(.down)))
    let last = min(sum.count, Int(((end + margin) * Double(rate)).rounded(.up)))
    guard first < last else { return }
    let wave = PlaneWave(signal: voice, from: direction).heard(
      at: position, rate: rate, count: last - first + taps - 1,
      start: Double(first + early - taps + 1) / Double(rate) - start)
    let amplitude = Float(gain.amplitude)
    for (n, value) in body(wave).enumerated() { sum[first + n] += amplitude * value }
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
