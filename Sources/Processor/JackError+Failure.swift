import JackClient
import Messages
import Settings

extension JackError: StatusedError {
  package var failure: Failure {
    switch self {
    case .noServer, .serverGone: return Failure(.noServer, description)
    case .nameTaken, .nameOfServer:
      var failure = Failure(.failed, description)
      failure.isFinal = true
      return failure
    case .openFailed, .portFailed, .activationFailed, .stalled, .noPlace: return Failure(.failed, description)
    }
  }
}
