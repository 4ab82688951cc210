import Glibc
import Messages
import Processor
import Settings

/// Requests that wait for files to be read on a worker. They proceed in the order in which they were requested.
///
/// Thread: control thread. No function waits.
final class PendingReads {
  /// Time limit for reading one file.
  static let patience = Duration.seconds(2)
  static let capacity = 8

  private struct Read {
    let what: String
    let deadline: ContinuousClock.Instant
    let request: Request
    /// Continues the request with the result of the job; false while there is none.
    let proceed: () -> Bool
    let abandon: () -> Void
  }

  /// In the order of the requests.
  private var reads: [Read] = []

  var isEmpty: Bool { reads.isEmpty }

  /// - Parameters:
  ///   - what: what is read, for messages: "the preset phone5".
  ///   - job: begins the reading.
  ///   - onRead: receives what was read; an error that it throws becomes the answer.
  /// - Throws: if too many reads are pending.
  func add<Value: Sendable>(
    _ what: String, _ job: @autoclosure () -> Job<Value>, _ request: Request,
    onRead: @escaping (Value) throws -> Void
  ) throws(Failure) {
    guard reads.count < Self.capacity else {
      throw Failure(
        .failed, "\(reads.count) earlier requests still wait for the disk; try again when it answers")
    }
    let job = job()
    func proceed() -> Bool {
      switch job.result {
      case .success(let value):
        request.attempt { try onRead(value) }
      case .failure(let failure): request.fail(failure)
      case nil: return false
      }
      return true
    }
    reads.append(
      Read(
        what: what, deadline: .now + Self.patience, request: request, proceed: proceed,
        abandon: { job.abandon() }))
  }

  /// Continues requests whose files have been read, in order; fails those that time out.
  func poll() {
    while let read = reads.first {
      // Removed first: `proceed` may add another.
      reads.removeFirst()
      if read.proceed() { continue }
      guard .now > read.deadline else {
        reads.insert(read, at: 0)
        return
      }
      read.abandon()
      read.request.fail(
        .failed, "\(read.what) could not be read within 2 s; try again when the disk answers")
    }
  }

  /// Fails all pending requests, because Pinna is stopping.
  func abandonAll() {
    for read in reads {
      read.abandon()
      read.request.fail(.notRunning, "Pinna was stopped before this was done; start it again with: pinna run")
    }
    reads = []
  }
}
