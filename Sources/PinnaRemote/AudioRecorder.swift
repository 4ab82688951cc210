import Messages
import Recording
import Synchronization

/// Records and plays takes with the route of a session, and measures the levels of its two output channels (S18).
public final class AudioRecorder: Sendable {
  /// What the running Pinna is doing.
  public enum State: String, Sendable { case stopped, recording, playing }

  /// Level of one channel in dB relative to full scale; silence reads −150.
  public struct Level: Hashable, Sendable {
    /// RMS level over 300 ms.
    public let rms: Double
    /// Peak level, held for 1.5 s.
    public let peak: Double
  }

  /// A finished take.
  public struct RecordedTake: Hashable, Sendable {
    /// Path of the outputs' file.
    public let path: String
    /// Channels of that file: 2 for stereo, 1 for mono patterns.
    public let numberOfChannels: Int
    /// Length of the take, including gaps and pre-roll.
    public let frames: Int
  }

  private let session: AudioSession
  private var engine: SocketEngine { session.engine }

  public init(_ session: AudioSession) { self.session = session }

  /// The state of the running Pinna; `stopped` if none is running.
  public var state: State {
    (try? engine.status()).flatMap { State(rawValue: $0.state.rawValue) } ?? .stopped
  }

  /// Starts a take. The route and the settings cannot change until it ends.
  /// - Parameter folder: nil for the default folder.
  /// - Returns: the path of the take.
  /// - Throws: `.category` if the session's category does not capture, `.notActive` if the session is not active, or
  ///   why Pinna refused.
  @discardableResult
  public func record(to folder: String? = nil) throws(SessionError) -> String {
    try SessionError.capturing(session.category)
    try requireActive("recorded")
    let answer = try engine.request("/pinna/record/start", folder.map { [TakeFolder.resolve($0)] } ?? [])
    return try answer.decoded(TakeStartAnswer.self).take
  }

  /// Stops the playback, or else ends the take.
  /// - Returns: the take; nil if a playback was stopped.
  /// - Throws: why no take could be ended, for example because none was running.
  @discardableResult
  public func stop() throws(SessionError) -> RecordedTake? {
    guard state != .playing else {
      try engine.request("/pinna/play/stop")
      return nil
    }
    let take = try engine.request("/pinna/record/stop").decoded(TakeAnswer.self)
    return RecordedTake(path: take.take, numberOfChannels: take.channels, frames: take.frames)
  }

  /// Plays a take through the outputs, in place of the microphones.
  /// - Throws: `.category` if the session's category does not play, `.notActive` if the session is not active, or why
  ///   Pinna refused.
  public func play(_ path: String) throws(SessionError) {
    let category = session.category
    guard category.plays else { throw .category(category, needed: [.playback, .playAndRecord]) }
    try requireActive("played")
    try engine.request("/pinna/play", [path])
  }

  /// Levels of the left and the right output; nil if no Pinna is running.
  public var levels: (left: Level, right: Level)? {
    guard let outputs = (try? engine.status())?.levels.outputs, outputs.count == 2 else { return nil }
    return (
      Level(rms: outputs[0].rmsDB, peak: outputs[0].peakDB),
      Level(rms: outputs[1].rmsDB, peak: outputs[1].peakDB)
    )
  }

  /// Paths of the takes in a folder that can be played, oldest first: those of `pinna takes list` except a take in
  /// progress and takes that a crash interrupted.
  /// - Parameter folder: nil for the default folder.
  public func takes(in folder: String? = nil) -> [String] {
    TakeFolder(path: folder.map(TakeFolder.resolve)).takes()
      .filter { ![.recording, .cut].contains($0.state) }.map(\.path)
  }

  private func requireActive(_ participle: String) throws(SessionError) {
    guard session.isActive else {
      throw .notActive("nothing can be \(participle) before the session is active; call setActive(true)")
    }
  }
}
