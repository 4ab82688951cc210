import Acoustics
import Messages

/// An available input, or an output in use.
///
/// Its identity is constant. Selected values are requested from the running Pinna at each access.
public final class PortDescription: Sendable, Hashable, CustomStringConvertible {
  public let portType: PortType
  /// The name shown to users.
  public let portName: String
  /// Identifies an input across sessions; of an output, the names of its JACK ports.
  public let uid: String
  private let session: AudioSession

  init(_ portType: PortType, _ portName: String, _ uid: String, of session: AudioSession) {
    self.portType = portType
    self.portName = portName
    self.uid = uid
    self.session = session
  }

  /// The data sources to choose from; nil if there are none (S4).
  public var dataSources: [DataSourceDescription]? {
    session.report(of: uid)?.dataSources?.map { DataSourceDescription($0, of: self, session) }
  }

  /// The data source in force; nil if the port is not in the route.
  public var selectedDataSource: DataSourceDescription? {
    session.report(of: uid)?.dataSources?.first(where: \.selected)
      .map { DataSourceDescription($0, of: self, session) }
  }

  /// The data source of the last `setPreferredDataSource`; nil if none is preferred.
  public var preferredDataSource: DataSourceDescription? {
    guard let name = session.state.withLock({ $0.preferredDataSources[uid] }) else { return nil }
    return session.report(of: name, input: uid).map { DataSourceDescription($0, of: self, session) }
  }

  /// Requests a data source of this port, with the polar pattern that is preferred for it. If this port is in the
  /// route, the data source takes effect at once, otherwise as soon as the port is in the route (S6).
  /// - Parameter source: nil lets the session's mode select one.
  /// - Throws: `.foreignDataSource` if the data source is not one of this port, or why Pinna refused.
  @discardableResult
  public func setPreferredDataSource(_ source: DataSourceDescription?) throws(SessionError) -> ChangeOutcome {
    if let source {
      let names = session.report(of: uid)?.dataSources?.map(\.name) ?? []
      guard source.portUID == uid, names.contains(source.dataSourceName) else {
        throw .foreignDataSource(source.dataSourceName, port: portName, possible: names)
      }
    }
    return try session.change { (state) throws(SessionError) in
      state.preferredDataSources[uid] = source?.dataSourceName
    }
  }

  public static func == (a: PortDescription, b: PortDescription) -> Bool {
    a.uid == b.uid && a.portType == b.portType
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(uid) }

  /// Address, type, name, UID and selected data source, in the seeds' format (S17).
  public var description: String {
    "<PortDescription: \(address(of: self)), type = \(portType.title); name = \(portName); UID = \(uid); "
      + "selectedDataSource = \(selectedDataSource?.dataSourceName ?? "(null)")>"
  }
}

func address(of object: AnyObject) -> String {
  "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
}
