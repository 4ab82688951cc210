import Acoustics
import Control

/// An input that can be chosen, or an output in use. What it is stays; what is selected on it is asked for each time.
public final class PortDescription: Sendable, Hashable, CustomStringConvertible {
  public let portType: PortType
  public let portName: String
  public let uid: String
  private let session: AudioSession

  init(_ portType: PortType, _ portName: String, _ uid: String, of session: AudioSession) {
    self.portType = portType
    self.portName = portName
    self.uid = uid
    self.session = session
  }

  /// Nil where there is nothing to choose (S4).
  public var dataSources: [DataSourceDescription]? {
    session.report(of: uid)?.dataSources?.map { DataSourceDescription($0, of: self, session) }
  }

  /// The one in force; nil where the port is not in the route.
  public var selectedDataSource: DataSourceDescription? {
    session.report(of: uid)?.dataSources?.first(where: \.selected)
      .map { DataSourceDescription($0, of: self, session) }
  }

  /// The one that was asked for; nil before.
  public var preferredDataSource: DataSourceDescription? {
    guard let name = session.state.withLock({ $0.preferredDataSources[uid] }) else { return nil }
    return session.report(of: name, input: uid).map { DataSourceDescription($0, of: self, session) }
  }

  /// Asks for a data source of this port, with the polar pattern that is preferred for it. On a port in the route it
  /// comes into force at once, on another one when that comes into the route (S6).
  /// - Parameter source: nil leaves the choice to the session's mode.
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

  /// The seeds' line: address, type, name, UID and selected data source (S17).
  public var description: String {
    "<PortDescription: \(address(of: self)), type = \(portType.title); name = \(portName); UID = \(uid); "
      + "selectedDataSource = \(selectedDataSource?.dataSourceName ?? "(null)")>"
  }
}

func address(of object: AnyObject) -> String {
  "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
}
