import Acoustics
import Glibc

/// Channels of a product that arrive at other places than its device file says. Some drivers deliver loopback channels
/// first or in the middle, until the capture is started again.
/// - Source: respeaker/seeed-voicecard, issues 309 and 334.
public struct CaptureShift: Hashable, Sendable {
  private let device: Device
  /// Number of the product's channels.
  private let count: Int
  /// Channels without a microphone that carry sound, counted from 0.
  private let sounding: [Int]
  /// Microphones whose channels carry none.
  let silent: [Int]
  /// By how many channels all microphones may have moved, in a circle: there, all have sound.
  let offsets: [Int]
  /// The only offset that explains which channels are silent, all of them; nil if none does, or several do.
  let offset: Int?

  /// Nil if no channel without a microphone carries sound.
  /// - Parameter levels: of all channels of a recording in dBFS; nil for silence.
  public init?(levels: [Double?], of device: Device) {
    let count = levels.count
    guard count > device.microphones.count, let places = device.channels(inRecordingOf: count) else {
      return nil
    }
    let levels = levels.map { $0 ?? -.infinity }
    let reference = levels.sorted(by: >)[(count - 1) / 3]
    guard reference > Thresholds.quiet else { return nil }
    let alive = Set(levels.indices.filter { levels[$0] >= reference + Thresholds.deadLevel })
    sounding = levels.indices.filter { alive.contains($0) && !places.contains($0) }
    guard !sounding.isEmpty else { return nil }
    func moved(_ offset: Int) -> Set<Int> { Set(places.map { ($0 + offset) % count }) }
    silent = places.indices.filter { !alive.contains(places[$0]) }
    offsets = (1..<count).filter { moved($0).isSubset(of: alive) }
    let fitting = offsets.filter { moved($0) == alive }
    offset = silent.isEmpty || fitting.count > 1 ? nil : fitting.first
    (self.device, self.count) = (device, count)
  }

  /// What to say where nothing else is judged; nil if all microphones have sound.
  public var warning: String? {
    guard !silent.isEmpty else { return nil }
    if let offset { return "\(sentence(offset)): \(Self.remedy); if it stays so, run: pinna array check" }
    return "\(soundElsewhere): if the capture may be shifted, start it again"
  }

  func finding(_ offset: Int) -> Finding {
    Finding(
      .shifted, Array(device.microphones.indices), size: Double(offset),
      verdicts: device.captureChannels.map { "on channel \(($0 - 1 + offset) % count + 1)" },
      sentence: sentence(offset), remedy: Self.remedy)
  }

  private static let remedy =
    "start the capture again, before any playback, and leave the device file as it is"

  private func sentence(_ offset: Int) -> String {
    let evidence =
      silent.isEmpty ? "only so does the sound fit the geometry of \(device.name)" : soundElsewhere
    return "the capture is shifted by \(offset) channel\(offset == 1 ? "" : "s") (\(evidence))"
  }

  /// "channels 7 and 8, where ring has no microphones, carry sound, and mic-1 and mic-2 do not"
  private var soundElsewhere: String {
    let (one, none) = (sounding.count == 1, silent.count == 1)
    return
      "channel\(one ? "" : "s") \(sounding.map { "\($0 + 1)" }.listed()), where \(device.name) has no microphone"
      + "\(one ? "" : "s"), carr\(one ? "ies" : "y") sound, and "
      + "\(silent.map { device.microphones[$0].name }.listed()) do\(none ? "es" : "") not"
  }
}
