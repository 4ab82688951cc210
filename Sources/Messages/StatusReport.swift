import Acoustics
import Settings

/// The answer to `status`: the values of `main` in force, and all else.
package typealias StatusReport = Joined<FeedSetting, StatusFields>

/// What `status` says besides the values of `main`; its properties are the JSON keys.
package struct StatusFields: Codable, Sendable {
  package static let currentFormat = 1

  package enum State: String, Codable, Sendable { case stopped, armed, recording, playing }
  /// The JACK server's state, as reported by `status`.
  package enum Server: String, Codable, Sendable {
    case running
    /// The server is there, but no periods reach Pinna.
    case stalled
    /// There is no server.
    case gone
    /// Filters for the server's sample rate are being prepared, or ports registered.
    case joining
    /// The server is there but cannot be used as it is.
    case unusable
  }
  /// The latest requested selection, whether in force or not.
  package struct Preferred: Codable, Sendable {
    package var dataSource = ""
    package var polarPattern = PolarPattern.omnidirectional
    package var inputOrientation = InputOrientation.portrait
    package var look: Look?
    package var roll: Double?
    package var yaw: Double?

    package init() {}

    package init(_ selection: Selection) {
      (dataSource, polarPattern) = (selection.dataSource, selection.polarPattern)
      (inputOrientation, look) = (selection.inputOrientation, selection.effectiveLook)
      (roll, yaw) = (selection.roll, selection.yaw)
    }
  }
  /// Level of a port, in dB relative to full scale.
  package struct NamedLevel: Codable, Sendable {
    package var name = ""
    /// Over 300 ms.
    package var rmsDB = 0.0
    /// Held for 1.5 s.
    package var peakDB = 0.0

    package init() {}
  }
  package struct Levels: Codable, Sendable {
    package var microphones: [NamedLevel] = []
    package var outputs: [NamedLevel] = []
    /// Of the outputs of the feeds besides `main`; nil if there is none.
    package var feeds: [NamedLevel]?
    /// Of the outputs over 300 ms, from −1 (inverted) to 1 (equal); nil while one is silent, and from an older Pinna.
    package var correlation: Double?

    package init() {}
  }
  /// The pose that comes in, in degrees: left, up, and the left side up are positive.
  package struct TrackerReport: Codable, Sendable {
    package var yaw: Double
    package var pitch: Double
    package var roll: Double
    /// How long ago it came, in seconds.
    package var secondsAgo: Double

    package init(_ pose: TrackedPose, secondsAgo: Double) {
      (yaw, pitch, roll, self.secondsAgo) = (pose.yaw, pose.pitch, pose.roll, secondsAgo)
    }
  }
  /// The take that is running.
  package struct TakeReport: Codable, Sendable {
    package var path = ""
    /// Frames written so far.
    package var frames = 0
    package var channels = 0
    /// Why writing has failed; nil while it works.
    package var fault: String?
    /// Which file of the take was removed during the take; nil while all exist.
    package var loss: String?
    /// Recording time that fits on the disk, in seconds; nil before it is known.
    package var secondsLeft: Int?
    /// In seconds, if it ends by itself.
    package var length: Int?
    /// Nil without a title.
    package var title: String?
    /// Number of markers so far; nil from an older Pinna.
    package var markers: Int?
    /// The feeds that it records; nil from an older Pinna.
    package var feeds: [String]?
    /// Whether it records the microphones; nil from an older Pinna.
    package var raw: Bool?

    package init() {}
  }
  /// The latest take that has ended; absent once another begins.
  package struct LastTakeReport: Codable, Sendable {
    package var path = ""
    package var frames = 0
    /// What is missing from the take; nil if it is complete.
    package var fault: String?
    /// Why it ended, if nobody requested its end.
    package var endedBecause: String?

    package init() {}
  }
  /// The microphones that are missing, and the filters that do without them.
  package struct FallbackReport: Codable, Sendable {
    package struct Missing: Codable, Sendable {
      package let name: String
      package let fault: MicrophoneFault

      package init(name: String, fault: MicrophoneFault) {
        self.name = name
        self.fault = fault
      }
    }
    package var missing: [Missing] = []
    /// The microphones that the filters in force do without; empty while they are being designed.
    package var without: [String] = []
    /// Why there are no filters without the missing ones; nil if there are, or will be.
    package var obstacle: String?

    package init() {}
  }
  /// An own port that is connected.
  package struct PortConnections: Codable, Sendable {
    /// Short name.
    package let port: String
    /// Full names.
    package let peers: [String]

    package init(port: String, peers: [String]) {
      self.port = port
      self.peers = peers
    }
  }
  /// A pending change of device.
  package struct PendingDeviceChange: Codable, Sendable {
    package var device = ""
    package var preset = ""
    /// Completed fraction of its filter design, from 0 to 1; 1 while it waits for the end of a take.
    package var progress = 0.0

    package init() {}
  }

  /// Version of this answer's format; nil from a Pinna before versions. It changes when the meaning of a field does,
  /// not when fields are added.
  package var format: Int? = StatusFields.currentFormat
  package var state = State.stopped
  package var server = Server.gone
  /// Current warnings, one sentence each.
  package var warnings: [String] = []
  /// Why nothing is heard, and what to do about it, without a full stop; nil if there is no such reason.
  package var silence: String?
  package var preset = ""
  package var device = ""
  /// The input in the route.
  package var input = InputsReport.Port()
  /// Nil before a pose comes in.
  package var tracker: TrackerReport?
  /// What the pattern is weak in at its look; `inputs` says it of data sources.
  package var weak: String?
  /// The look whose filters are being designed, while the nearest play; nil for none.
  package var designing: Look?
  package var preferred = Preferred()
  /// Nil for mono patterns.
  package var layout: StereoLayout?
  /// Number of output channels: 2 for stereo, otherwise 1.
  package var inputChannels = 0
  /// What becomes of adaptation now: "adapting", or why the linear filters play. Nil for not at all.
  package var adaptationText: String?
  /// What it takes to follow the sound, for filters and talkers, in percent of a core; nil if nothing does.
  package var adaptationLoad: Double?
  /// The wind that there is and what is taken out, or why none is; nil for not at all.
  package var windText: String?
  /// Who has been heard in the last seconds; nil while nobody looks for talkers.
  package var talkers: [TalkerReport]?
  /// Why nobody does although it was asked for; nil if somebody does, or it was not.
  package var talkersText: String?
  /// Who sits where, as `--seat` takes it; nil for nobody.
  package var seats: [String]?
  /// The microphone that is listened to alone; nil for none.
  package var listening: String?
  /// Number of microphones.
  package var microphones = 0
  /// In hertz; 0 without a server.
  package var sampleRate = 0
  /// In frames.
  package var period = 0
  /// Delay of the filters.
  package var latencyFrames = 0
  /// Percent of the period that the graph uses.
  package var dspLoad = 0.0
  package var xruns = 0
  package var levels = Levels()
  /// Microphones that sent invalid samples (NaN, infinity, or above +60 dBFS) within the last second.
  package var mutedMicrophones: [String] = []
  /// Nil if all microphones work.
  package var fallback: FallbackReport?
  /// The microphones without which filters are ready: one of them that fails is replaced within 1.5 s. Those without
  /// the others are designed while nothing else happens. Nil until the first is looked at, 10 s after the start.
  package var preparedFallbacks: [String]?
  /// The day on which the array was calibrated: "2026-11-23"; nil if it was not.
  package var calibrated: String?
  /// What was measured on that day; nil if nobody wrote it down.
  package var calibratedFrom: Calibration.Source?
  /// Number of invalid samples from microphones.
  package var rejectedSamples = 0
  package var clippedSamples = 0
  /// Periods of an unexpected length, which were silent.
  package var unpreparedPeriods = 0
  /// Malformed or unauthorised packets on the control socket.
  package var droppedPackets = 0
  /// Clients that other programs have removed from PipeWire's graph. Its libjack keeps their memory, because closing them
  /// would end Pinna. Nil if there is none.
  package var abandonedClients: Int?
  package var take: TakeReport?
  package var lastTake: LastTakeReport?
  /// Paths of takes that have ended and that the disk thread is still writing or converting.
  package var closingTakes: [String] = []
  package var change: PendingDeviceChange?
  package var playback: PlaybackReport?
  /// Name of the session that controls the route.
  package var controller: String?
  package var output = OutputReport()
  /// The own ports that are connected; nil from an older Pinna.
  package var connections: [PortConnections]?
  /// Nil from an older Pinna.
  package var midi: MIDIReport?
  /// The feeds besides `main`; nil if there is none.
  package var feeds: [FeedReport]?

  package init() {}

  /// Below this, in dBFS, peaks are no signal: quiet rooms are louder in any microphone that works.
  package static let signalFloor = -90.0
  package static let adapting = "adapting"
}

extension StatusFields {
  /// Why nothing is heard while `server` is `stalled`.
  package var stallText: String {
    let microphones = Set(levels.microphones.map(\.name))
    return Self.stallText(
      sources: (connections ?? []).filter { microphones.contains($0.port) }.flatMap(\.peers))
  }

  /// Why no periods reach Pinna. jackd2 calls no client behind one that does not end its period: it stands still, or has
  /// no process callback.
  /// - Parameter sources: full names of the ports that the microphones are connected to.
  package static func stallText(sources: [String]) -> String {
    let names = Set(sources.filter { !$0.hasPrefix("system:") }.map { $0.printable }).sorted()
    let some = names.prefix(4) + (names.count > 4 ? ["…"] : [])
    return "no periods reach Pinna, so nothing is heard or recorded: the JACK server stands still"
      + (names.isEmpty
        ? ""
        : ", or what its microphones are connected to does (\(some.joined(separator: ", "))); disconnect that")
  }
}

extension StatusReport {
  /// The first reason why nothing is heard, on the way from the microphones to the outputs, and what to do about it; nil
  /// if there is none.
  package var silenceFound: (reason: String, remedy: String)? {
    guard self.playback == nil, self.listening == nil else { return nil }
    switch self.server {
    case .joining: return ("filters and ports are being prepared", "wait; pinna status says how far they are")
    case .gone, .stalled, .unusable: return nil
    case .running: break
    }
    let connected = Set((self.connections ?? []).map(\.port))
    let feeds = self.feeds ?? []
    guard self.levels.microphones.contains(where: { connected.contains($0.name) }) else {
      return ("no microphone is connected", "connect them in the graph, or start pinna run with --connect")
    }
    guard self.levels.microphones.contains(where: { $0.peakDB > StatusFields.signalFloor }) else {
      return (
        "no signal comes from any microphone",
        "look at the card's capture switch and gain (alsamixer), and at its profile (pinna doctor)"
      )
    }
    let others = feeds.filter { feed in !feed.muted && feed.outputs.contains { connected.contains($0.name) } }
    guard others.isEmpty else { return nil }
    if self.muted { return ("the outputs are muted", "pinna set --mute off") }
    if self.gain.value <= -40 {
      return (String(format: "the gain is %g dB", self.gain.value), "pinna set --gain 0")
    }
    guard connected.contains(where: { ["out_left", "out_right"].contains($0) }) else {
      return (
        "the outputs are connected to nothing",
        "connect out_left and out_right in the graph, or start pinna run with --connect"
      )
    }
    return nil
  }

  /// Why stereo does not follow the sound although it shall, as a sentence without a full stop; nil if it does.
  package var adaptationLine: String? {
    self.adaptationText.flatMap { $0 == StatusFields.adapting ? nil : "adapting: \($0)" }
  }

  /// What becomes of wind, as a sentence without a full stop; nil if nobody wants it taken out.
  package var windLine: String? { self.windText.map { "wind: \($0)" } }

  /// What plays while filters are being designed, as a sentence without a full stop; nil if what is wanted does.
  package var designText: String? {
    if let designing = self.designing {
      return "filters at \(designing) are being designed; until then the nearest play"
    }
    guard self.preferred.dataSource == self.selection.dataSource,
      self.preferred.roll != self.selection.roll || self.preferred.yaw != self.selection.yaw
    else {
      return nil
    }
    return "filters for the pose are being designed; until then the nearest play"
  }
}
