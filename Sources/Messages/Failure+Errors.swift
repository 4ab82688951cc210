import Acoustics
import FoundationEssentials
import Glibc
import Settings

/// An error of another room that has an exit status of its own.
package protocol StatusedError: Error {
  var failure: Failure { get }
}

extension Failure {
  /// Assigns the exit status that belongs to `error`.
  public init(_ error: any Error) {
    let text = String(describing: error)
    switch error {
    case let failure as Failure: self = failure
    case is UnknownWord: self.init(.usage, text)
    case is Unsupported: self.init(.unsupported, text)
    case let error as any StatusedError: self = error.failure
    default: self.init(.failed, text)
    }
  }
}

extension Answer {
  package init(_ failure: Failure) { self.init(failure.status, failure.description) }
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
