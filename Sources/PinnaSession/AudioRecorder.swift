import Control
import Foundation
import Recording
import Synchronization

/// A small recorder around a session: records, plays back, stops, and shows the levels of two channels (S18).
public final class AudioRecorder: Sendable {
  public enum State: String, Sendable { case stopped, recording, playing }

  /// Level of one channel in dB relative to full scale; silence reads −150.
  public struct Level: Hashable, Sendable {
    /// Over 300 ms.
    public let rms: Double
    /// Held for 1.5 s.
    public let peak: Double
  }

  public struct RecordedTake: Hashable, Sendable {
    public let path: String
    public let numberOfChannels: Int
    public let frames: Int
  }

  private let session: AudioSession
  private var engine: SocketEngine { session.engine }

  public init(_ session: AudioSession) { self.session = session }

  /// What the running Pinna does; stopped where none runs.
  public var state: State {
    (try? engine.status()).flatMap { State(rawValue: $0.state.rawValue) } ?? .stopped
  }

  /// Starts a take; nothing may change until it ends.
  /// - Parameter folder: nil for the usual one.
  /// - Returns: the path that the take will have.
  @discardableResult
  public func record(to folder: String? = nil) throws(SessionError) -> String {
    let category = session.category
    try SessionError.capturing(category)
    try requireActive("recorded")
    let answer = try engine.request("/pinna/record/start", folder.map { [TakeFolder.resolve($0)] } ?? [])
    return try SocketEngine.document(TakeStartAnswer.self, of: answer).take
  }

  /// Ends a take or a playback.
  /// - Returns: the take that was recorded, or nil.
  @discardableResult
  public func stop() throws(SessionError) -> RecordedTake? {
    guard state != .playing else {
      try engine.request("/pinna/play/stop")
      return nil
    }
    let take = try SocketEngine.document(TakeAnswer.self, of: engine.request("/pinna/record/stop"))
    return RecordedTake(path: take.take, numberOfChannels: take.channels, frames: take.frames)
  }

  /// Plays a take through the outputs, in place of what the microphones give.
  public func play(_ path: String) throws(SessionError) {
    let category = session.category
    guard category.plays else { throw .category(category, needed: [.playback, .playAndRecord]) }
    try requireActive("played")
    try engine.request("/pinna/play", [path])
  }

  /// Left and right, as they leave; nil where no Pinna runs.
  public var levels: (left: Level, right: Level)? {
    guard let outputs = (try? engine.status())?.levels.outputs, outputs.count == 2 else { return nil }
    return (
      Level(rms: outputs[0].rmsDB, peak: outputs[0].peakDB),
      Level(rms: outputs[1].rmsDB, peak: outputs[1].peakDB)
    )
  }

  /// Paths of the takes in a folder that can be played, oldest first: those of `pinna takes list`, but for one that
  /// is being recorded, and what a crash cut off.
  /// - Parameter folder: nil for the usual one.
  public func takes(in folder: String? = nil) -> [String] {
    TakeFolder(path: folder.map(TakeFolder.resolve)).takes()
      .filter { ![.recording, .cut].contains($0.state) }.map(\.path)
  }

  private func requireActive(_ what: String) throws(SessionError) {
    guard session.isActive else {
      throw .notActive("nothing can be \(what) before the session is active; call setActive(true)")
    }
  }
}
