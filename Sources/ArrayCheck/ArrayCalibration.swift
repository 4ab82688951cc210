import Acoustics
import Glibc
import Manifolds
import Numerics

/// How the microphones of an array deviate from its device file, measured in sound from all around.
///
/// Thread: any; the calling thread computes, and calls `progress`.
public struct ArrayCalibration: Sendable {
  public struct Microphone: Sendable {
    public let name: String
    /// What the filters are to undo, on top of what the device file states.
    public let deviation: Deviation
    /// Standard error of the gain in dB, from parts of the recording.
    public let gainError: Double
    /// Measured delay against the median microphone, and its standard error, in seconds; whether or not it counts.
    public let delay: (value: Double, error: Double)
    /// Gain by frequency in dB.
    public let curve: [(frequency: Double, gain: Double)]
  }

  public let device: Device
  public let microphones: [Microphone]
  /// How much of the recording's coherence the model of diffuse sound leaves unexplained, RMS, 0…1.
  public let unevenness: Double
  public let calibration: Calibration
  /// RMS of the microphones' gains in dB, as they are and with the calibration undone; by the second half of the
  /// recording when only the first half is used.
  public let spread: (before: Double, after: Double)

  /// - Parameters:
  ///   - signals: shape `[channel][frame]`, as for `ArrayCheck.verdict`.
  ///   - date: the day of the measurement.
  ///   - source: of the signals.
  /// - Throws: `ArrayCheckError` with the reason why nothing can be estimated, and what to do.
  public init(
    of device: Device, signals channels: [[Float]], sampleRate: Int, date: String,
    source: Calibration.Source? = nil, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(ArrayCheckError) {
    // An earlier calibration is replaced, not refined.
    let device = device.with(calibration: nil)
    guard device.microphones.count > 1 else { throw .single(device) }
    let recording = try CheckedRecording(channels, of: device, sampleRate: sampleRate)
    let signals = recording.signals
    guard signals[0].count >= Thresholds.leastCalibration * sampleRate else { throw .tooShortToCalibrate }
    let inverted = try Self.inverted(channels, device, sampleRate, progress)
    let manifold = try ArrayCheck.manifold(of: device, progress)
    let sound = DiffuseSound(
      ArrayCheck.undone(signals, device, inverted: inverted), of: device, manifold: manifold,
      sampleRate: sampleRate)
    unevenness = sound.unevenness()
    try Self.check(sound, unevenness, device)
    let microphones = Self.microphones(sound, device, inverted)
    if let other = microphones.first(where: { !Deviation.gainRange.contains($0.deviation.gain.value) }) {
      throw .tooUnequal(other.name, other.deviation.gain.value)
    }
    let seconds = Int((Double(signals[0].count) / Double(sampleRate)).rounded())
    (self.device, self.microphones) = (device, microphones)
    spread = Self.spread(sound)
    calibration = Calibration(
      deviations: Dictionary(uniqueKeysWithValues: microphones.map { ($0.name, $0.deviation) }), date: date,
      method: "\(seconds) s of diffuse sound", source: source)
  }

  /// The microphones that are inverted for certain.
  /// - Throws: if something is wrong that a calibration cannot undo.
  private static func inverted(
    _ channels: [[Float]], _ device: Device, _ sampleRate: Int, _ progress: (@Sendable (Double) -> Void)?
  ) throws(ArrayCheckError) -> [Int] {
    let findings = try ArrayCheck.verdict(
      on: channels, of: device, sampleRate: sampleRate, progress: progress
    ).findings
    let obstacles: [Finding.Kind] = [
      .bFormat, .shifted, .invalid, .dead, .clipped, .doubled, .swapped, .permuted,
    ]
    if let obstacle = findings.first(where: {
      obstacles.contains($0.kind) || $0.kind == .inverted && $0.isOneOf
    }) {
      throw .obstacle(obstacle)
    }
    return findings.filter { $0.kind == .inverted }.flatMap(\.microphones)
  }

  /// - Throws: if the sound is not diffuse, or a microphone too late.
  private static func check(_ sound: DiffuseSound, _ unevenness: Double, _ device: Device)
    throws(ArrayCheckError)
  {
    let delays = sound.delays(sound.parts)
    let latest = delays.indices.max { abs(delays[$0]) < abs(delays[$1]) }!
    // A late microphone alone makes diffuse sound look uneven.
    if abs(delays[latest]) > Thresholds.mostCalibratedDelay,
      sound.unevenness(without: delays) < Thresholds.mostUnevenness
    {
      throw .tooLate(device.microphones[latest].name, delays[latest])
    }
    guard unevenness < Thresholds.mostUnevenness else { throw .uneven(unevenness) }
  }

  private static func microphones(_ sound: DiffuseSound, _ device: Device, _ inverted: [Int]) -> [Microphone]
  {
    let (gains, delays) = (sound.gains(sound.parts), sound.delays(sound.parts))
    let partGains = sound.parts.map { sound.gains($0...$0) }
    let partDelays = sound.parts.map { sound.delays($0...$0) }
    return device.microphones.indices.map { m in
      let error = standardError(partDelays.map { $0[m] })
      let isLate =
        abs(delays[m]) > max(Thresholds.leastCalibratedDelay, Thresholds.delaySignificance * error)
      return Microphone(
        name: device.microphones[m].name,
        deviation: Deviation(
          gain: Decibels((gains[m] * 100).rounded() / 100),
          delay: isLate ? (delays[m] * 1e7).rounded() / 1e7 : 0, isInverted: inverted.contains(m)),
        gainError: standardError(partGains.map { $0[m] }), delay: (delays[m], error), curve: sound.curve(m))
    }
  }

  private static func spread(_ sound: DiffuseSound) -> (before: Double, after: Double) {
    let middle = sound.parts.count / 2
    let halves = [sound.gains(0...middle - 1), sound.gains(middle...sound.parts.count - 1)]
    return (rms(sound.gains(sound.parts)), rms(zip(halves[1], halves[0]).map { $0 - $1 }))
  }

  /// Around the mean.
  private static func rms(_ values: [Double]) -> Double {
    let centre = mean(values)
    return mean(values.map { ($0 - centre) * ($0 - centre) }).squareRoot()
  }

  /// Of the mean.
  private static func standardError(_ values: [Double]) -> Double {
    rms(values) / Double(values.count - 1).squareRoot()
  }
}
