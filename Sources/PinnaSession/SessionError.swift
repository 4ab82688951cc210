import Control
import Foundation

/// Why a session did not get what it asked for: what was wrong, and what is possible. Nothing has changed.
public enum SessionError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  /// No Pinna of that name runs, or it has ended.
  case notRunning(String)
  /// There is no JACK server, or it has gone.
  case noServer(String)
  /// A take is running, and nothing may change until it ends; or the route is not ours to change.
  case refused(String)
  /// `supported` is empty where there is nothing to choose.
  case unsupportedPolarPattern(PolarPattern, dataSource: String, supported: [PolarPattern])
  /// Known words that do not go together on this device.
  case unsupported(String)
  /// The data source belongs to another port.
  case foreignDataSource(String, port: String, possible: [String])
  case unknownInput(String, available: [String])
  /// The session's category does not capture, or does not play.
  case category(AudioSession.Category, needed: [AudioSession.Category])
  case notActive(String)
  case invalidValue(String)
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
      "data source \(source) is not one of the port \(port); choose one of: "
        + (possible.isEmpty ? "none, there is nothing to choose" : possible.joined(separator: ", "))
    case .unknownInput(let uid, let available):
      "there is no input \(uid) now; the available ones are: "
        + (available.isEmpty ? "none" : available.joined(separator: ", "))
    case .category(let category, let needed):
      "the category \(category.rawValue) does not do that; set one of: "
        + needed.map(\.rawValue).joined(separator: ", ")
    }
  }

  public var errorDescription: String? { description }

  init(_ answer: Answer) {
    self.init(Failure(answer.status, answer.text))
  }

  init(_ failure: Failure) {
    let text = failure.description
    switch failure.status {
    case .notRunning: self = .notRunning(text)
    case .noServer: self = .noServer(text)
    case .refused: self = .refused(text)
    case .unsupported: self = .unsupported(text)
    default: self = .failed(text)
    }
  }

  /// - Throws: where `category` does not capture.
  static func capturing(_ category: AudioSession.Category) throws(SessionError) {
    guard category.captures else { throw .category(category, needed: [.record, .playAndRecord]) }
  }
}
