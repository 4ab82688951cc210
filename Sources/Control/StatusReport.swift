import Acoustics
import Foundation
import JackClient
import Realtime

/// The answer to `status`; its properties are the JSON keys. A value; any thread.
package struct StatusReport: Codable, Sendable {
  package static let currentFormat = 1

  package enum State: String, Codable, Sendable { case stopped, armed, recording, playing }
  /// The latest requested selection, whether in force or not.
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

    /// Silence is −150 dB, because JSON has no infinity.
    static func decibels(_ amplitude: Float) -> Double {
      max(-150, (200 * log10(Double(amplitude))).rounded() / 10)
    }
  }
  package struct Levels: Codable, Sendable {
    package let microphones: [NamedLevel]
    package let outputs: [NamedLevel]
    /// Of the outputs over 300 ms, from −1 (inverted) to 1 (equal); nil while one is silent, and from an older Pinna.
    package let correlation: Double?

    init(_ readings: Readings, correlation: Float?) {
      microphones = zip(readings.microphones, readings.levels).map { NamedLevel($0, $1) }
      outputs = zip(ArrayClient.outputNames, readings.levels.suffix(2)).map { NamedLevel($0, $1) }
      self.correlation = correlation.map { (Double($0) * 100).rounded() / 100 }
    }
  }
  /// The take that is running.
  package struct TakeReport: Codable, Sendable {
    package let path: String
    /// Frames written so far.
    package let frames: Int
    package let channels: Int
    /// Why writing has failed; nil while it works.
    package let fault: String?
    /// Which file of the take was removed during the take; nil while all exist.
    package let loss: String?
    /// Recording time that fits on the disk, in seconds; nil before it is known.
    package let secondsLeft: Int?
    /// Nil without a title.
    package let title: String?
    /// Number of markers so far; nil from an older Pinna.
    package let markers: Int?

    init(_ take: any TakeRecording) {
      title = take.title.isEmpty ? nil : take.title
      markers = take.markers
      path = take.path ?? "a take that is being opened"
      frames = take.frames
      channels = take.plan.outputs
      fault = take.fault
      loss = take.loss
      secondsLeft = take.secondsLeft
    }
  }
  /// The latest take that has ended; absent once another begins.
  package struct LastTakeReport: Codable, Sendable {
    package let path: String
    package let frames: Int
    /// What is missing from the take; nil if it is complete.
    package let fault: String?
    /// Why it ended, if nobody requested its end.
    package let endedBecause: String?

    init(_ take: EndedTake) {
      path = take.result.path
      frames = take.result.frames
      fault = take.result.fault
      endedBecause = take.cause?.text
    }
  }
  /// The microphones that are missing, and the filters that do without them.
  package struct FallbackReport: Codable, Sendable {
    package struct Missing: Codable, Sendable {
      package let name: String
      package let fault: MicrophoneFault
    }
    package let missing: [Missing]
    /// The microphones that the filters in force do without; empty while they are being designed.
    package let without: [String]
    /// Why there are no filters without the missing ones; nil if there are, or will be.
    package let obstacle: String?

    /// Nil if every microphone works and the filters in force use all of them.
    init?(_ fallback: Fallback, microphones: [String]) {
      missing = microphones.compactMap { name in
        fallback.watch.missing[name].map { Missing(name: name, fault: $0) }
      }
      without = microphones.filter(fallback.inForce.contains)
      if 2 * missing.count > microphones.count {
        obstacle = "more than half of the microphones are missing"
      } else {
        let names = Set(missing.map(\.name))
        obstacle = fallback.failure.flatMap { $0.missing == names ? $0.reason : nil }
      }
      if missing.isEmpty, without.isEmpty { return nil }
    }
  }
  /// An own port that is connected.
  package struct PortConnections: Codable, Sendable {
    /// Short name.
    package let port: String
    /// Full names.
    package let peers: [String]

    static func all(_ connections: [String: Set<String>]) -> [PortConnections] {
      connections.sorted { $0.key < $1.key }.map { PortConnections(port: $0, peers: $1.sorted()) }
    }
  }
  /// A pending change of device.
  package struct PendingDeviceChange: Codable, Sendable {
    package let device: String
    package let preset: String
    /// Completed fraction of its filter design, from 0 to 1; 1 while it waits for the end of a take.
    package let progress: Double

    init(_ change: DeviceChange) {
      device = change.setting.device.name
      preset = change.setting.preset
      if case .designing(let job) = change.phase { progress = job.progress ?? 0 } else { progress = 1 }
    }
  }

  /// Version of this answer's format; nil from a Pinna before versions. It changes when the meaning of a field does, not
  /// when fields are added.
  package let format: Int?
  package let state: State
  package let server: Reconnection.State
  /// Current warnings, one sentence each.
  package let warnings: [String]
  package let preset: String
  package let device: String
  /// The input in the route.
  package let input: InputsReport.Port
  package let dataSource: String
  package let polarPattern: PolarPattern
  package let inputOrientation: InputOrientation
  package let preferred: Preferred
  /// Nil for mono patterns.
  package let layout: StereoLayout?
  /// Number of output channels: 2 for stereo, otherwise 1.
  package let inputChannels: Int
  /// From −60 to 24 dB.
  package let gainDB: Double
  /// Corner of the high-pass; nil if it is off.
  package let highPassHz: Double?
  package let muted: Bool
  /// The microphone that is listened to alone; nil for none.
  package let listening: String?
  /// Number of microphones.
  package let microphones: Int
  /// In hertz; 0 without a server.
  package let sampleRate: Int
  /// In frames.
  package let period: Int
  /// Delay of the filters.
  package let latencyFrames: Int
  /// Percent of the period that the graph uses.
  package let dspLoad: Double
  package let xruns: Int
  package let levels: Levels
  /// Microphones that sent invalid samples (NaN, infinity, or above +60 dBFS) within the last second.
  package let mutedMicrophones: [String]
  /// Nil if all microphones work.
  package let fallback: FallbackReport?
  /// The day on which the array was calibrated: "2026-11-23"; nil if it was not.
  package let calibrated: String?
  /// Number of invalid samples from microphones.
  package let rejectedSamples: Int
  package let clippedSamples: Int
  /// Periods of an unexpected length, which were silent.
  package let unpreparedPeriods: Int
  /// Malformed or unauthorised packets on the control socket.
  package let droppedPackets: Int
  package let take: TakeReport?
  package let lastTake: LastTakeReport?
  /// Paths of takes that have ended and that the disk thread is still writing or converting.
  package let closingTakes: [String]
  package let change: PendingDeviceChange?
  package let playback: PlaybackReport?
  /// Name of the session that controls the route.
  package let controller: String?
  package let output: OutputReport
  /// The own ports that are connected; nil from an older Pinna.
  package let connections: [PortConnections]?
  /// Nil from an older Pinna.
  package let midi: MIDIReport?
}
