import Acoustics
import Foundation
import Realtime

/// What `pinna status` prints, key by key.
struct StatusReport: Encodable {
  struct Preferred: Encodable {
    let dataSource: String
    let polarPattern: PolarPattern
    let inputOrientation: InputOrientation
  }
  struct NamedLevel: Encodable {
    let name: String
    let rmsDB: Double
    let peakDB: Double

    init(_ name: String, _ level: Level) {
      self.name = name
      rmsDB = Self.decibels(level.rms)
      peakDB = Self.decibels(level.peak)
    }

    /// Silence reads −150, since JSON has no infinity.
    static func decibels(_ amplitude: Float) -> Double {
      max(-150, (200 * log10(Double(amplitude))).rounded() / 10)
    }
  }
  struct Levels: Encodable {
    let microphones: [NamedLevel]
    let outputs: [NamedLevel]
  }
  struct TakeReport: Encodable {
    let path: String
    let frames: Int
    let channels: Int
    /// Why nothing reaches the disk any more.
    let fault: String?
    /// How long the disk has room for.
    let secondsLeft: Int?
  }

  let state: String
  let server: Rejoin.State
  /// What is wrong with what comes in, a sentence each.
  let warnings: [String]
  let preset: String
  let device: String
  let dataSource: String
  let polarPattern: PolarPattern
  let inputOrientation: InputOrientation
  let preferred: Preferred
  let layout: StereoLayout?
  let inputChannels: Int
  let gainDB: Double
  let muted: Bool
  let microphones: Int
  let sampleRate: Int
  let period: Int
  let latencyFrames: Int
  let dspLoad: Double
  let xruns: Int
  let levels: Levels
  /// Those that send what is no sound, or did within the last second.
  let mutedMicrophones: [String]
  let rejectedSamples: Int
  let clippedSamples: Int
  let unpreparedPeriods: Int
  /// Packets on the control socket that were no plain OSC message.
  let droppedPackets: Int
  let take: TakeReport?
}

/// JSON on one line, keys in a fixed order, so that equal states print equal.
func json(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  guard let data = try? encoder.encode(value) else { return "{}" }
  return String(decoding: data, as: UTF8.self)
}
