import Acoustics
import Foundation
import Realtime

/// What `pinna status` prints, key by key.
package struct StatusReport: Codable, Sendable {
  package struct Preferred: Codable, Sendable {
    package let dataSource: String
    package let polarPattern: PolarPattern
    package let inputOrientation: InputOrientation
  }
  package struct NamedLevel: Codable, Sendable {
    package let name: String
    package let rmsDB: Double
    package let peakDB: Double

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
  package struct Levels: Codable, Sendable {
    package let microphones: [NamedLevel]
    package let outputs: [NamedLevel]
  }
  package struct TakeReport: Codable, Sendable {
    package let path: String
    package let frames: Int
    package let channels: Int
    /// Why nothing reaches the disk any more.
    package let fault: String?
    /// How long the disk has room for.
    package let secondsLeft: Int?

    init(_ take: any TakeRecording) {
      path = take.path ?? "a take that is being opened"
      frames = take.frames
      channels = take.plan.outputs
      fault = take.fault
      secondsLeft = take.secondsLeft
    }
  }
  /// Another device on its way in.
  package struct ChangeOnItsWay: Codable, Sendable {
    package let device: String
    package let preset: String
    /// What part of the design of its filters is done; 1 while it waits for the end of a take.
    package let progress: Double

    init(_ change: DeviceChange) {
      device = change.setting.device.name
      preset = change.setting.preset
      if case .designing(let job) = change.phase { progress = job.progress } else { progress = 1 }
    }
  }

  package let state: String
  package let server: Rejoin.State
  /// What is wrong with what comes in, a sentence each.
  package let warnings: [String]
  package let preset: String
  package let device: String
  /// The input in the route: the device's own, or another one.
  package let input: InputsReport.Port
  package let dataSource: String
  package let polarPattern: PolarPattern
  package let inputOrientation: InputOrientation
  package let preferred: Preferred
  package let layout: StereoLayout?
  package let inputChannels: Int
  package let gainDB: Double
  package let muted: Bool
  package let microphones: Int
  package let sampleRate: Int
  package let period: Int
  package let latencyFrames: Int
  package let dspLoad: Double
  package let xruns: Int
  package let levels: Levels
  /// Those that send what is no sound, or did within the last second.
  package let mutedMicrophones: [String]
  package let rejectedSamples: Int
  package let clippedSamples: Int
  package let unpreparedPeriods: Int
  /// Packets on the control socket that were no plain OSC message.
  package let droppedPackets: Int
  package let take: TakeReport?
  /// Takes that have ended, and that the disk thread still writes or converts.
  package let closingTakes: [String]
  /// Another device that was asked for and is not in force yet.
  package let change: ChangeOnItsWay?
  package let playback: PlaybackReport?
  /// The session that controls the route.
  package let controller: String?
  package let output: OutputReport
}

/// JSON on one line, keys in a fixed order, so that equal states print equal.
public func json(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  encoder.nonConformingFloatEncodingStrategy = .convertToString(
    positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
  guard let data = try? encoder.encode(value) else { return "{}" }
  return String(decoding: data, as: UTF8.self)
}
