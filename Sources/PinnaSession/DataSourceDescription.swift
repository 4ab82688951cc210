import Acoustics
import Control

/// A microphone of an input, or a beamformer that uses several. What it is stays; what is selected is asked for each
/// time.
public final class DataSourceDescription: Sendable, Hashable, CustomStringConvertible {
  public let dataSourceID: UInt32
  public let dataSourceName: String
  /// Upper or lower, where the device says so.
  public let location: Location?
  /// Where it looks.
  public let orientation: Orientation?
  /// What can be chosen; nil where there is no choice (S5).
  public let supportedPolarPatterns: [PolarPattern]?
  private let offered: [PolarPattern]
  private let port: PortDescription
  private let session: AudioSession

  init(_ report: InputsReport.DataSourceReport, of port: PortDescription, _ session: AudioSession) {
    dataSourceID = report.id
    dataSourceName = report.name
    location = report.location
    orientation = report.orientation
    offered = report.supportedPolarPatterns
    supportedPolarPatterns = offered.count > 1 ? offered : nil
    self.port = port
    self.session = session
  }

  var portUID: String { port.uid }
  private var key: AudioSession.SourceKey { .init(input: port.uid, dataSource: dataSourceName) }

  /// The pattern in force; nil where this data source is not selected, or has no choice.
  public var selectedPolarPattern: PolarPattern? {
    supportedPolarPatterns == nil
      ? nil : session.report(of: dataSourceName, input: port.uid)?.selectedPolarPattern
  }

  /// The pattern that was asked for; nil before.
  public var preferredPolarPattern: PolarPattern? {
    session.state.withLock { $0.preferredPolarPatterns[key] }
  }

  /// Asks for a polar pattern. On the data source in force it comes into force at once, on another one when that is
  /// selected (S6).
  /// - Throws: where it is not offered, with the patterns that are.
  @discardableResult
  public func setPreferredPolarPattern(_ pattern: PolarPattern?) throws(SessionError) -> ChangeOutcome {
    if let pattern, !offered.contains(pattern) {
      throw .unsupportedPolarPattern(
        pattern, dataSource: dataSourceName, supported: supportedPolarPatterns ?? [])
    }
    return try session.change { (state) throws(SessionError) in state.preferredPolarPatterns[key] = pattern }
  }

  public static func == (a: DataSourceDescription, b: DataSourceDescription) -> Bool { a.key == b.key }
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// The seeds' line: address, ID and name (S17).
  public var description: String {
    "<DataSourceDescription: \(address(of: self)), ID = \(dataSourceID); name = \(dataSourceName)>"
  }
}
