/// The answer to `record start`.
package struct TakeStartAnswer: Codable, Sendable {
  /// Path of the outputs' file.
  package var take = ""
  /// Whether it waits for the transport; nil if it has begun.
  package var armed: Bool?
  /// Channels of that file.
  package var channels = 0
  /// The feeds that it records, a file each, `main` among them; nil from an older Pinna.
  package var feeds: [String]?
  /// The feeds that it does not record; nil from an older Pinna.
  package var unrecordedFeeds: [String]?
  /// Whether it records the microphones; nil from an older Pinna.
  package var raw: Bool?
  /// The file that it is converted to when it ends; nil if it stays WAV.
  package var convertedTake: String?
  /// In seconds, if it ends by itself.
  package var length: Int?
  /// Deviations from the request, one sentence each.
  package var notes: [String] = []
  /// Whether the outputs are muted, so that the take is silent.
  package var muted = false
  /// Microphones that were not connected at the start.
  package var unconnected: [String] = []
  package var microphoneCount = 0
  /// Microphones that are connected and do not work; nil from an older Pinna.
  package var missing: [StatusFields.FallbackReport.Missing]?
  /// Recording time that fits on the disk, in seconds; nil before it is known.
  package var secondsLeft: Int?

  package init() {}
}

/// The file of a feed in a take.
package struct FeedFile: Codable, Sendable {
  package let name: String
  package let path: String

  package init(name: String, path: String) { (self.name, self.path) = (name, path) }
}

/// The answer to `record stop` for a complete take.
package struct TakeAnswer: Codable, Sendable {
  /// Path of the outputs' file.
  package var take = ""
  /// Channels of that file.
  package var channels = 0
  /// Path of the microphones' file.
  package var microphones: String?
  /// The files of feeds besides `main`; nil if there are none.
  package var feeds: [FeedFile]?
  /// Path of the sidecar.
  package var sidecar = ""
  package var frames = 0
  package var seconds = 0.0
  package var clippedSamples = 0
  /// Number of invalid samples from microphones, which were replaced with silence.
  package var silencedSamples = 0
  /// How often no periods reached Pinna during the take.
  package var pauses = 0
  /// Deviations from the request, one sentence each.
  package var notes: [String] = []

  package init() {}
}

/// The answer to `record stop` for a take that was armed, and had not begun.
package struct DisarmAnswer: Codable, Sendable {
  /// Path that the take would have had. No file of it is left.
  package let disarmed: String

  package init(disarmed: String) { self.disarmed = disarmed }
}

/// The answer to `record stop`: of a take that has ended, or of one that was disarmed.
package enum RecordStopAnswer: Decodable, Sendable {
  case ended(TakeAnswer)
  case disarmed(DisarmAnswer)

  package init(from decoder: any Decoder) throws {
    if let answer = try? DisarmAnswer(from: decoder) {
      self = .disarmed(answer)
    } else {
      self = .ended(try TakeAnswer(from: decoder))
    }
  }
}

/// The answer to `stop`.
package struct StopAnswer: Codable, Sendable {
  package let stopped: Bool
  /// Takes that the stop ended.
  package let takes: [TakeAnswer]

  package init(takes: [TakeAnswer]) {
    stopped = true
    self.takes = takes
  }
}

/// The answer to `record marker`.
package struct MarkerAnswer: Codable, Sendable {
  /// Counts the markers of the take, from 1.
  package var marker = 0
  package var label = ""
  /// Frame of the take, pre-roll included.
  package var frame = 0
  package var seconds = 0.0

  package init() {}
}

/// The answer to `record title`.
package struct TitleAnswer: Codable, Sendable {
  /// Empty for none.
  package let title: String

  package init(title: String) { self.title = title }
}

/// The answer to `play` and `play --stop`: the take and the position.
package struct PlaybackReport: Codable, Sendable {
  /// Path of the take.
  package let playing: String
  /// Length of the take, in frames.
  package let frames: Int
  package let channels: Int
  package let framesPlayed: Int
  /// Frames replaced with silence because the disk was late.
  package let missedFrames: Int

  package init(playing: String, frames: Int, channels: Int, framesPlayed: Int, missedFrames: Int) {
    self.playing = playing
    self.frames = frames
    self.channels = channels
    self.framesPlayed = framesPlayed
    self.missedFrames = missedFrames
  }
}
