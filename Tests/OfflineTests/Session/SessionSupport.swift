import Foundation
import LiveSupport
import PinnaSession
import Synchronization
import TestSupport
import Testing

extension PinnaGraph {
  /// A session with this graph's Pinna.
  func session() -> AudioSession { AudioSession(SocketEngine(environment: home.environment)) }

  /// An active session with playAndRecord that does not mix.
  func activeSession(options: AudioSession.CategoryOptions = [], mode: AudioSession.Mode = .default) throws
    -> AudioSession
  {
    let session = session()
    try session.setCategory(.playAndRecord, mode: mode, options: options)
    try session.setActive(true)
    return session
  }

  /// Runs `body`, expects it to throw a session error, and expects unchanged status and preferences.
  func expectUnchanged(
    _ session: AudioSession, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws -> SessionError? {
    let (before, preferences) = (try stableStatus(), session.preferences)
    var caught: SessionError?
    do { try body() } catch let error as SessionError { caught = error }
    #expect(caught != nil, "nothing was refused", sourceLocation: location)
    #expect(try stableStatus() == before, "\(caught?.description ?? "")", sourceLocation: location)
    #expect(session.preferences == preferences, sourceLocation: location)
    if let caught {
      #expect(!caught.description.isEmpty && !caught.description.contains("\n"), sourceLocation: location)
      #expect(caught.localizedDescription == caught.description, sourceLocation: location)
    }
    return caught
  }
}

extension AudioSession {
  /// All preferences, as text.
  var preferences: [String] {
    let sources = availableInputs?.flatMap { $0.dataSources ?? [] } ?? []
    return [
      category.rawValue, mode.rawValue, "\(categoryOptions.rawValue)", "\(isActive)",
      preferredInput?.uid ?? "",
      preferredInputOrientation?.rawValue ?? "", "\(preferredSampleRate)", "\(preferredIOBufferDuration)",
    ] + (availableInputs ?? []).map { $0.preferredDataSource?.dataSourceName ?? "" }
      + sources.map { $0.preferredPolarPattern?.rawValue ?? "" }
  }

  var activeInput: PortDescription? { currentRoute.inputs.first }

  func source(_ name: String) throws -> DataSourceDescription {
    try #require(activeInput?.dataSources?.first { $0.dataSourceName == name })
  }
}

/// What a session has told.
final class HeardEvents: Sendable {
  let routes = Mutex<[RouteChange]>([])
  let interruptions = Mutex<[Interruption]>([])
}

extension OfflineGraph {
  /// Runs `body` during continuous input or playback and expects an audible output that repeats to the last
  /// bit: nothing faded, stopped or began. The input must repeat after `repetition` frames.
  func expectSameSound(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws {
    // After the fade of earlier changes.
    try wait(frames: 9600)
    let channels = try record {
      try body()
      try wait(frames: 2 * Self.repetition)
    }
    for channel in channels {
      #expect(level(channel[...]) > -60, "nothing is heard", sourceLocation: location)
      let changed = zip(channel, channel.dropFirst(Self.repetition)).count { $0.bitPattern != $1.bitPattern }
      #expect(changed == 0, "\(changed) of \(channel.count) frames", sourceLocation: location)
    }
  }
}
