import Acoustics
import Foundation
import Realtime

/// Why a microphone counts as missing.
package enum MicrophoneFault: String, Codable, Sendable {
  /// Nothing is connected to its port, while others are connected.
  case unconnected
  /// It sends exact zeros, while others send sound.
  case silent
  /// It sends invalid samples, and the engine mutes it.
  case invalid
  /// It is more than 20 dB softer than the median microphone.
  case faint

  /// As a sentence about the microphone.
  package var sentence: String {
    switch self {
    case .unconnected: "nothing is connected to it"
    case .silent: "it sends only zeros"
    case .invalid: "it sends invalid samples (NaN, infinity, or above +60 dBFS)"
    case .faint: "it is more than 20 dB softer than the others"
    }
  }
}

/// Decides which microphones are missing, from levels and connections over time.
///
/// A microphone is missing after its fault has lasted for `holdTime`, and works again after 2 s without one. A fault that
/// most of the microphones share is none of theirs: nothing is plugged in yet, or nothing sounds.
///
/// Thread: control thread; a value.
struct MicrophoneWatch {
  /// One microphone at one time.
  struct Observation {
    let name: String
    /// Over 300 ms, as an amplitude, without the gain that the device file and the calibration state.
    let rms: Float
    let isMuted: Bool
    let isConnected: Bool
  }

  private static let recoveryTime = Duration.seconds(2)
  private static let faintLevel = Decibels(-20)
  /// A microphone that was faint must come this close to the median.
  private static let recoveredLevel = Decibels(-14)
  /// Below it, noise decides how loud a microphone is, not sound.
  private static let softestMedian: Float = 1e-4

  /// The missing microphones, by name.
  private(set) var missing: [String: MicrophoneFault] = [:]
  /// Since when each microphone has had its fault.
  private var faultSince: [String: (fault: MicrophoneFault, instant: ContinuousClock.Instant)] = [:]
  /// Since when each missing microphone has had none.
  private var soundSince: [String: ContinuousClock.Instant] = [:]

  mutating func observe(_ all: [Observation], now: ContinuousClock.Instant) {
    let names = Set(all.map(\.name))
    missing = missing.filter { names.contains($0.key) }
    let connected = all.count { $0.isConnected }
    let sounding = all.filter { $0.rms > 0 }
    let levels = sounding.map(\.rms).sorted()
    let median = levels.isEmpty ? 0 : levels[levels.count / 2]
    for microphone in all {
      let name = microphone.name
      let fault = fault(
        of: microphone, othersConnected: 2 * connected >= all.count,
        othersSound: 2 * sounding.count >= all.count, median: median)
      guard let fault else {
        faultSince[name] = nil
        guard missing[name] != nil else { continue }
        let since = soundSince[name] ?? now
        soundSince[name] = since
        if now - since >= Self.recoveryTime { missing[name] = nil }
        continue
      }
      soundSince[name] = nil
      let since = faultSince[name].flatMap { $0.fault == fault ? $0.instant : nil } ?? now
      faultSince[name] = (fault, since)
      if now - since >= fault.holdTime { missing[name] = fault }
    }
  }

  private func fault(
    of microphone: Observation, othersConnected: Bool, othersSound: Bool, median: Float
  ) -> MicrophoneFault? {
    if microphone.isMuted { return .invalid }
    if !microphone.isConnected { return othersConnected ? .unconnected : nil }
    if microphone.rms == 0 { return othersSound ? .silent : nil }
    let limit = missing[microphone.name] == .faint ? Self.recoveredLevel : Self.faintLevel
    guard median > Self.softestMedian, microphone.rms < median * Float(limit.amplitude) else { return nil }
    return .faint
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
