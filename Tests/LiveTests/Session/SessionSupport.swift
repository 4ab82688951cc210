import LiveSupport
import PinnaSession
import Testing

extension LiveGraph {
  /// An active session with playAndRecord that does not mix.
  func activeSession() throws -> AudioSession {
    let session = AudioSession(SocketEngine(environment: home.environment))
    try session.setCategory(.playAndRecord)
    try session.setActive(true)
    return session
  }
}

extension AudioSession {
  var activeInput: PortDescription? { currentRoute.inputs.first }

  func source(_ name: String) throws -> DataSourceDescription {
    try #require(activeInput?.dataSources?.first { $0.dataSourceName == name })
  }
}
