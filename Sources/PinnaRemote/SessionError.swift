import FoundationEssentials
import Messages
import Settings

/// Why a request of a session failed, and what is possible instead. The request has changed nothing.
public enum SessionError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  /// No Pinna with that name is running.
  case notRunning(String)
  /// No JACK server is running.
  case noServer(String)
  /// A take is in progress, or another session controls the route.
  case refused(String)
  /// The data source does not offer the polar pattern. `supported` is empty if it has none to choose from.
  case unsupportedPolarPattern(PolarPattern, dataSource: String, supported: [PolarPattern])
  /// The device does not support this combination of valid values.
  case unsupported(String)
  /// The data source belongs to another port.
  case foreignDataSource(String, port: String, possible: [String])
  /// No available input has this UID.
  case unknownInput(String, available: [String])
  /// The session's category does not capture, or does not play.
  case category(AudioSession.Category, needed: [AudioSession.Category])
  /// The session is not active.
  case notActive(String)
  /// A value is out of range, or does not fit the category.
  case invalidValue(String)
  /// Any other error.
  case failed(String)

  public var description: String {
    switch self {
    case .notRunning(let text), .noServer(let text), .refused(let text), .unsupported(let text),
      .notActive(let text), .invalidValue(let text), .failed(let text):
      text
    case .unsupportedPolarPattern(let pattern, let source, let supported):
      supported.isEmpty
        ? "data source \(source) does not offer \(pattern.rawValue); it has no polar patterns to choose from"
        : "data source \(source) does not offer \(pattern.rawValue); it offers "
          + supported.map(\.rawValue).joined(separator: ", ")
    case .foreignDataSource(let source, let port, let possible):
      "data source \(source) does not belong to the port \(port); choose one of: "
        + (possible.isEmpty ? "none, there is nothing to choose" : possible.joined(separator: ", "))
    case .unknownInput(let uid, let available):
      "there is no input \(uid) now; the available ones are: "
        + (available.isEmpty ? "none" : available.joined(separator: ", "))
    case .category(let category, let needed):
      "the category \(category.rawValue) does not permit that; set one of: "
        + needed.map(\.rawValue).joined(separator: ", ")
    }
  }

  public var errorDescription: String? { description }

  /// The description. Every error has this property in Foundation, which programs need not import for this one.
  public var localizedDescription: String { description }

  package init(_ failure: Failure) {
    let text = failure.description
    switch failure.status {
    case .notRunning: self = .notRunning(text)
    case .noServer: self = .noServer(text)
    case .refused: self = .refused(text)
    case .unsupported: self = .unsupported(text)
    default: self = .failed(text)
    }
  }

  /// Runs `body`, and throws its failure as an error of a session.
  static func wrapping<Result>(_ body: () throws(Failure) -> Result) throws(SessionError) -> Result {
    do { return try body() } catch { throw SessionError(error) }
  }

  /// - Throws: `.category` if `category` does not capture.
  static func capturing(_ category: AudioSession.Category) throws(SessionError) {
    guard category.captures else { throw .category(category, needed: [.record, .playAndRecord]) }
  }
}
