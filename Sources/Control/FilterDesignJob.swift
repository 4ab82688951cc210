import Acoustics
import Foundation
import Synchronization

/// Filters of one device, designed (or read from the cache) on a thread of their own.
final class FilterDesignJob: Sendable {
  /// Nil until it is done.
  let result = Mutex<Result<FilterSets, Failure>?>(nil)

  init(device: Device, sampleRate: Int) {
    Thread.detachNewThread { [self] in
      let outcome = Result { try FilterSets(device: device, sampleRate: sampleRate) }
      result.withLock { $0 = outcome.mapError { Failure($0) } }
    }
  }
}
