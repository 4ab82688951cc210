import Acoustics
import Foundation
import Realtime

/// What a running Pinna does: the answer to `status`, key by key.
package struct StatusReport: Codable, Sendable {
  package enum State: String, Codable, Sendable { case stopped, recording, playing }
  /// What was asked for last, in force or not.
  package struct Preferred: Codable, Sendable {
    package let dataSource: String
    package let polarPattern: PolarPattern
    package let inputOrientation: InputOrientation
  }
  /// Level of a port, in dB relative to full scale.
  package struct NamedLevel: Codable, Sendable {
    package let name: String
    /// Over 300 ms.
    package let rmsDB: Double
    /// Held for 1.5 s.
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
  /// The take that is running.
  package struct TakeReport: Codable, Sendable {
    package let path: String
    /// Written so far.
    package let frames: Int
    package let channels: Int
    /// Why nothing reaches the disk any more.
    package let fault: String?
    /// What of the take was removed while it ran, so that it is lost.
    package let loss: String?
    /// For how many seconds the disk has room; nil before that is known.
    package let secondsLeft: Int?

    init(_ take: any TakeRecording) {
      path = take.path ?? "a take that is being opened"
      frames = take.frames
      channels = take.plan.outputs
      fault = take.fault
      loss = take.loss
      secondsLeft = take.secondsLeft
    }
  }
  /// The take that ended last, while no other has begun.
  package struct LastTakeReport: Codable, Sendable {
    package let path: String
    package let frames: Int
    /// What it lacks.
    package let fault: String?
    /// What ended it where nobody had asked for its end.
    package let endedBecause: String?

    init(_ take: EndedTake) {
      path = take.result.path
      frames = take.result.frames
      fault = take.result.fault
      endedBecause = take.cause
    }
  }
  /// Another device on its way in.
  package struct ChangeOnItsWay: Codable, Sendable {
    package let device: String
    package let preset: String
    /// What part of the design of its filters is done, 0…1; 1 while it waits for the end of a take.
    package let progress: Double

    init(_ change: DeviceChange) {
      device = change.setting.device.name
      preset = change.setting.preset
      if case .designing(let job) = change.phase { progress = job.progress ?? 0 } else { progress = 1 }
    }
  }

  package let state: State
  package let server: Reconnection.State
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
  /// Nil for mono patterns.
  package let layout: StereoLayout?
  /// Channels that come out: 2 for stereo, otherwise 1.
  package let inputChannels: Int
  /// From −60 to 24 dB.
  package let gainDB: Double
  package let muted: Bool
  /// Number of microphones.
  package let microphones: Int
  /// In hertz; 0 without a server.
  package let sampleRate: Int
  /// In frames.
  package let period: Int
  package let latencyFrames: Int
  /// The server's load, in percent.
  package let dspLoad: Double
  package let xruns: Int
  package let levels: Levels
  /// Those that send what is no sound, or did within the last second.
  package let mutedMicrophones: [String]
  /// Invalid samples of microphones.
  package let rejectedSamples: Int
  package let clippedSamples: Int
  /// Periods of a length that nothing was prepared for; they are silent.
  package let unpreparedPeriods: Int
  /// Packets on the control socket that were no plain OSC message.
  package let droppedPackets: Int
  package let take: TakeReport?
  package let lastTake: LastTakeReport?
  /// Takes that have ended, and that the disk thread still writes or converts.
  package let closingTakes: [String]
  /// Another device that was asked for and is not in force yet.
  package let change: ChangeOnItsWay?
  package let playback: PlaybackReport?
  /// The session that controls the route.
  package let controller: String?
  package let output: OutputReport
}
