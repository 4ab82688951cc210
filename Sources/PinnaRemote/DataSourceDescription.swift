import Acoustics
import Messages

/// A data source of an input: a microphone, or a beamformer with several microphones.
///
/// Its identity is constant. Selected values are requested from the running Pinna at each access.
public final class DataSourceDescription: Sendable, Hashable, CustomStringConvertible {
  public let dataSourceID: UInt32
  public let dataSourceName: String
  /// Upper or lower; nil if the device file does not specify it.
  public let location: Location?
  /// The direction in which it looks; nil if the device file does not specify it.
  public let orientation: Orientation?
  /// The polar patterns to choose from; nil if there are fewer than two (S5).
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

  /// The polar pattern in force; nil if this data source is not selected, or has no patterns to choose from.
  public var selectedPolarPattern: PolarPattern? {
    supportedPolarPatterns == nil
      ? nil : session.report(of: dataSourceName, input: port.uid)?.selectedPolarPattern
  }

  /// The pattern of the last `setPreferredPolarPattern`; nil if none is preferred.
  public var preferredPolarPattern: PolarPattern? {
    session.state.withLock { $0.preferredPolarPatterns[key] }
  }

  /// Requests a polar pattern. If this data source is selected, the pattern takes effect at once, otherwise as soon as
  /// the data source is selected (S6).
  /// - Parameter pattern: nil for no preference.
  /// - Throws: `.unsupportedPolarPattern` with the supported ones, or why Pinna refused.
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

  /// Address, ID and name, in the seeds' format (S17).
  public var description: String {
    "<DataSourceDescription: \(address(of: self)), ID = \(dataSourceID); name = \(dataSourceName)>"
  }
}
