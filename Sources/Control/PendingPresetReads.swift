import Foundation

/// Changes to presets whose files are still being read. They proceed in the order in which they were requested.
///
/// Thread: control thread. No function waits.
final class PendingPresetReads {
  /// Time limit for reading one file.
  static let patience = Duration.seconds(2)
  static let capacity = 8

  private struct Read {
    let name: String
    let job: Job<Setting>
    let deadline: ContinuousClock.Instant
    let request: Request
    let onRead: (Setting) throws -> Void
  }

  /// In the order of the requests.
  private var reads: [Read] = []

  var isEmpty: Bool { reads.isEmpty }

  /// - Parameter onRead: receives the setting of the preset; an error that it throws becomes the answer.
  func add(
    _ name: String, _ job: Job<Setting>, _ request: Request, onRead: @escaping (Setting) throws -> Void
  ) {
    reads.append(
      Read(name: name, job: job, deadline: .now + Self.patience, request: request, onRead: onRead))
  }

  /// Throws if too many reads are pending.
  func checkCapacity() throws(Failure) {
    guard reads.count < Self.capacity else {
      throw Failure(
        .failed, "\(reads.count) earlier presets are still being read; try again when the disk answers")
    }
  }

  /// Continues changes whose files have been read, in order; fails those that time out.
  func poll() {
    while let read = reads.first {
      switch read.job.result {
      case .success(let setting):
        reads.removeFirst()
        do { try read.onRead(setting) } catch { read.request.answer(.failed(Failure(error))) }
      case .failure(let failure):
        reads.removeFirst()
        read.request.answer(.failed(failure))
      case nil where .now > read.deadline:
        reads.removeFirst()
        read.job.abandon()
        read.request.fail(
          .failed,
          "the preset \(read.name) could not be read within 2 s; try again when the disk answers")
      case nil: return
      }
    }
  }

  /// Fails all pending changes, because Pinna is stopping.
  func abandonAll() {
    for read in reads {
      read.job.abandon()
      read.request.fail(.notRunning, "Pinna was stopped before this was done; start it again with: pinna run")
    }
    reads = []
  }
}
