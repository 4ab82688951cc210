import Acoustics
import Messages
import Realtime

/// Decides which microphones are missing, from levels and connections over time.
///
/// A microphone is missing after its fault has lasted for `holdTime`. It works again after 2 s without a fault; after more,
/// up to a minute, if it fails again and again. A fault shared by more than half of the microphones is ignored: nothing
/// is plugged in yet, or nothing sounds.
struct MicrophoneWatch {
  /// One microphone at one time.
  struct Observation {
    let name: String
    /// Over 300 ms, as an amplitude, without the gain that the device file and the calibration state.
    let rms: Float
    let isMuted: Bool
    let isConnected: Bool
  }

  private enum Condition {
    case fault(MicrophoneFault)
    case working
    /// Nothing can be said now, so nothing changes.
    case unknown
  }

  /// What is remembered of a microphone that has ever failed.
  private struct Record {
    /// Since when it has sent no sound; nil if it does.
    var soundlessSince: ContinuousClock.Instant?
    /// Since when it has been too soft; nil if it is not.
    var faintSince: ContinuousClock.Instant?
    /// Since when it has had no fault, while it is missing.
    var workingSince: ContinuousClock.Instant?
    var lastReturn: ContinuousClock.Instant?
    /// How often it has failed within a minute of its return.
    var relapses = 0

    mutating func forgetClocks() { (soundlessSince, faintSince, workingSince) = (nil, nil, nil) }

    var recoveryTime: Duration { min(.seconds(60), .seconds(2) * (1 << min(relapses, 5))) }
  }

  private static let faintLevel = Decibels(-20)
  /// A microphone that was faint must come this close to the median.
  private static let recoveredLevel = Decibels(-14)
  /// Below it, noise decides how loud a microphone is, not sound.
  private static let softestMedian: Float = 1e-4
  /// Of two microphones nobody can say which one has the wrong level.
  private static let fewestForLevels = 3

  /// The missing microphones, by name.
  private(set) var missing: [String: MicrophoneFault] = [:]
  private var records: [String: Record] = [:]

  /// Whether a microphone is missing, or may soon count as missing.
  var isDeciding: Bool {
    !missing.isEmpty || records.values.contains { $0.soundlessSince != nil || $0.faintSince != nil }
  }

  /// Restarts all clocks: for a while nothing was observed.
  mutating func forgetClocks() { for name in records.keys { records[name]?.forgetClocks() } }

  /// - Parameter hasWind: whether wind is heard, of which a calm microphone among windy ones has less: none becomes faint.
  mutating func observe(_ all: [Observation], hasWind: Bool, now: ContinuousClock.Instant) {
    let usable = all.filter { $0.rms > 0 && !$0.isMuted && missing[$0.name] == nil }.map(\.rms).sorted()
    let median = usable.count < Self.fewestForLevels - 1 ? 0 : usable[usable.count / 2]
    let areMostConnected = 2 * all.count(where: \.isConnected) >= all.count
    let doMostSound = 2 * all.count { $0.rms > 0 } >= all.count
    for microphone in all {
      let condition: Condition =
        if microphone.isMuted {
          .fault(.invalid)
        } else if !microphone.isConnected {
          areMostConnected ? .fault(.unconnected) : .unknown
        } else if microphone.rms == 0 {
          doMostSound ? .fault(.silent) : .unknown
        } else {
          level(of: microphone, median: median, usable: usable.count, hasWind: hasWind)
        }
      follow(microphone.name, condition, now: now)
    }
  }

  /// The condition of a microphone that sounds.
  private func level(of microphone: Observation, median: Float, usable: Int, hasWind: Bool) -> Condition {
    let isFaint = missing[microphone.name] == .faint
    guard isFaint || usable >= Self.fewestForLevels else { return .working }
    guard median > Self.softestMedian else { return isFaint ? .unknown : .working }
    let limit = isFaint ? Self.recoveredLevel : Self.faintLevel
    guard microphone.rms < median * Float(limit.amplitude) else { return .working }
    return hasWind ? .unknown : .fault(.faint)
  }

  private mutating func follow(_ name: String, _ condition: Condition, now: ContinuousClock.Instant) {
    var record = records[name] ?? Record()
    defer { records[name] = record }
    switch condition {
    case .unknown: record.forgetClocks()
    case .working:
      (record.soundlessSince, record.faintSince) = (nil, nil)
      guard missing[name] != nil else { return }
      let since = record.workingSince ?? now
      record.workingSince = since
      guard now - since >= record.recoveryTime else { return }
      missing[name] = nil
      (record.workingSince, record.lastReturn) = (nil, now)
    case .fault(let fault):
      record.workingSince = nil
      // What sends nothing is too soft as well.
      record.faintSince = fault == .invalid ? nil : record.faintSince ?? (fault == .faint ? now : nil)
      record.soundlessSince = [.silent, .unconnected].contains(fault) ? record.soundlessSince ?? now : nil
      let since = (fault == .faint ? record.faintSince : record.soundlessSince) ?? now
      guard now - since >= fault.holdTime else { return }
      if missing[name] == nil {
        let isRelapse = record.lastReturn.map { now - $0 < .seconds(60) } ?? false
        record.relapses = isRelapse ? record.relapses + 1 : 0
      }
      missing[name] = fault
    }
  }
}

extension MicrophoneFault {
  /// How long it lasts before the microphone is missing.
  fileprivate var holdTime: Duration {
    switch self {
    case .invalid: .zero
    case .unconnected: .seconds(1)
    // The meter is zero 300 ms after the last sample that is not.
    case .silent: .milliseconds(700)
    case .faint: .seconds(5)
    }
  }
}
