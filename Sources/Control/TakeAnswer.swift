import Recording

/// The answer to `record start`. A value, as the other answers in this file; any thread.
package struct TakeStartAnswer: Codable, Sendable {
  /// Path of the outputs' file.
  package let take: String
  /// Whether it waits for the transport; nil if it has begun.
  package let armed: Bool?
  /// Channels of that file.
  package let channels: Int
  /// The file that it is converted to when it ends; nil if it stays WAV.
  package let convertedTake: String?
  /// Deviations from the request, one sentence each.
  package let notes: [String]
  /// Whether the outputs are muted, so that the take is silent.
  package let muted: Bool
  /// Microphones that were not connected at the start.
  package let unconnected: [String]
  package let microphoneCount: Int
  /// Microphones that are connected and do not work; nil from an older Pinna.
  package let missing: [StatusReport.FallbackReport.Missing]?
  /// Recording time that fits on the disk, in seconds; nil before it is known.
  package let secondsLeft: Int?

  init(
    _ take: any TakeRecording, isArmed: Bool, muted: Bool, unconnected: [String], microphoneCount: Int,
    missing: [StatusReport.FallbackReport.Missing]
  ) {
    self.missing = missing.filter { $0.fault != .unconnected }
    let path = take.path ?? ""
    self.take = path
    armed = isArmed ? true : nil
    channels = take.plan.outputs
    convertedTake = take.plan.convertedFormat.map { path.replacing(/wav$/, with: $0) }
    let obstacle = take.plan.conversionObstacle.map { "it stays WAV: \($0)" }
    notes = [take.plan.shortRingNote, obstacle].compactMap { $0 }
    self.muted = muted
    self.unconnected = unconnected
    self.microphoneCount = microphoneCount
    secondsLeft = take.secondsLeft
  }
}

/// The answer to `record stop` for a complete take.
package struct TakeAnswer: Codable, Sendable {
  /// Path of the outputs' file.
  package let take: String
  /// Channels of that file.
  package let channels: Int
  /// Path of the microphones' file.
  package let microphones: String?
  /// Path of the sidecar.
  package let sidecar: String
  package let frames: Int
  package let seconds: Double
  package let clippedSamples: Int
  /// Number of invalid samples from microphones, which were replaced with silence.
  package let silencedSamples: Int
  /// How often the server ran no periods during the take.
  package let pauses: Int
  /// Deviations from the request, one sentence each.
  package let notes: [String]

  /// - Parameter more: notes that the sidecar does not contain.
  init(_ result: TakeWriter.Result, notes more: [String]) {
    let document = result.sidecar
    take = result.path
    channels = document.channels
    let folder = String(result.path[...(result.path.lastIndex(of: "/") ?? result.path.startIndex)])
    microphones = document.files.first?.microphones.map { folder + $0 }
    sidecar = result.path[..<(result.path.lastIndex(of: ".") ?? result.path.endIndex)] + ".json"
    frames = document.frames
    seconds = Double(document.frames) / Double(document.sampleRate)
    clippedSamples = document.clippedSamples
    silencedSamples = document.silencedSamples
    pauses = document.pauses.count
    notes = document.notes + more
  }
}

/// The answer to `record stop` for a take that was armed, and had not begun.
package struct DisarmAnswer: Codable, Sendable {
  /// Path that the take would have had. No file of it is left.
  package let disarmed: String
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

  init(takes: [TakeAnswer]) {
    stopped = true
    self.takes = takes
  }
}
