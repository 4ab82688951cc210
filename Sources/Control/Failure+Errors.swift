import Acoustics
import Foundation
import JackClient
import Presets

extension Failure {
  /// Assigns the exit status that belongs to `error`. Any thread.
  public init(_ error: any Error) {
    let text = String(describing: error)
    switch error {
    case let failure as Failure: self = failure
    case is UnknownWord: self.init(.usage, text)
    case is Unsupported: self.init(.unsupported, text)
    case JackError.noServer, JackError.serverGone: self.init(.noServer, text)
    case JackError.nameTaken, JackError.nameOfServer:
      self.init(.failed, text)
      isFinal = true
    default: self.init(.failed, text)
    }
  }
}

extension Answer {
  init(_ failure: Failure) { self.init(failure.status, failure.description) }
}

extension Error {
  /// The system's error message. Foundation's own descriptions do not contain it.
  package var systemReason: String {
    guard let system = (self as? CocoaError)?.underlying as? POSIXError else {
      return String(describing: self)
    }
    return String(cString: strerror(system.code.rawValue))
  }
}
