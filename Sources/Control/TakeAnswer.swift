import Recording

/// The answer to `record start`.
package struct TakeStartAnswer: Codable, Sendable {
  /// Path of the outputs' file.
  package let take: String
  /// Channels of that file.
  package let channels: Int
  /// The file that it is converted to at its end.
  package let convertedTake: String?
  /// What is otherwise than asked for, a sentence each.
  package let notes: [String]
  /// The take is silent because the outputs are muted.
  package let muted: Bool
  /// Microphones that nothing was connected to at the start.
  package let unconnected: [String]
  package let microphoneCount: Int
  /// For how many seconds the disk has room; nil before that is known.
  package let secondsLeft: Int?

  init(_ take: any TakeRecording, muted: Bool, unconnected: [String], microphoneCount: Int) {
    let path = take.path ?? ""
    self.take = path
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

/// The answer to `record stop`: a take that is complete.
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
  /// Invalid samples of microphones, which were silenced.
  package let silencedSamples: Int
  /// How often the server stood still.
  package let pauses: Int
  /// What is otherwise than asked for, a sentence each.
  package let notes: [String]

  /// - Parameter more: notes that its sidecar does not have.
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

/// The answer to `stop`.
package struct StopAnswer: Codable, Sendable {
  package let stopped: Bool
  /// Takes that ended with Pinna.
  package let takes: [TakeAnswer]

  init(takes: [TakeAnswer]) {
    stopped = true
    self.takes = takes
  }
}
