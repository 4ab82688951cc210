import Foundation
import Realtime
import Recording

/// Blocking waits for the disk, which only tests may use.
extension TakeWriter {
  /// The ring, once the take is open.
  public func opened(seconds: Double = 20) throws -> TakeRing {
    var ring: TakeRing?
    var failure: TakeError?
    let isDecided = waitUntil(seconds: seconds) {
      switch phase {
      case .opening: return false
      case .open(let open): ring = open
      case .failed(let error): failure = error
      case .finished: failure = TakeError("the take has ended already")
      }
      return true
    }
    if let failure { throw failure }
    guard isDecided, let ring else { throw SupportError("the take is not open after \(seconds) s") }
    return ring
  }

  /// The take's result, once all of it is on disk.
  public func finished(seconds: Double = 60) throws -> Result {
    var result: Result?
    var failure: TakeError?
    _ = waitUntil(seconds: seconds) {
      if case .finished(let end) = phase { result = end }
      if case .failed(let error) = phase { failure = error }
      return result != nil || failure != nil
    }
    if let failure { throw failure }
    guard let result else { throw SupportError("the take has not ended after \(seconds) s: \(phase)") }
    return result
  }

  /// The path of an open take's output file.
  public var openPath: String { path ?? "" }
}
