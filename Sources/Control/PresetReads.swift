import Foundation

/// Changes that name a preset, and wait until its file has been read. The control thread does not.
///
/// Thread: control.
final class PresetReads {
  /// How long a file may take.
  static let patience = Duration.seconds(2)
  static let most = 8

  private struct Read {
    let name: String
    let job: Job<Setting>
    let deadline: ContinuousClock.Instant
    let request: Request
    let onArrival: (Setting) throws -> Void
  }

  /// In the order in which they were asked for.
  private var reads: [Read] = []

  var isEmpty: Bool { reads.isEmpty }

  /// - Parameter onArrival: takes what the preset sets; what it throws is the request's answer.
  func add(
    _ name: String, _ job: Job<Setting>, _ request: Request, onArrival: @escaping (Setting) throws -> Void
  ) {
    reads.append(
      Read(name: name, job: job, deadline: .now + Self.patience, request: request, onArrival: onArrival))
  }

  func refuseMore() throws(Failure) {
    guard reads.count < Self.most else {
      throw Failure(.failed, "the disk has not brought the presets asked for before; try again when it does")
    }
  }

  /// Goes on with those whose files have come, in their order.
  func poll() {
    while let read = reads.first {
      switch read.job.result {
      case .success(let setting):
        reads.removeFirst()
        do { try read.onArrival(setting) } catch { read.request.answer(.failed(Failure(error))) }
      case .failure(let failure):
        reads.removeFirst()
        read.request.answer(.failed(failure))
      case nil where .now > read.deadline:
        reads.removeFirst()
        read.job.abandon()
        read.request.fail(
          .failed, "the disk has not brought the preset \(read.name) within 2 s; try again when it answers")
      case nil: return
      }
    }
  }

  /// Pinna ends.
  func giveUp() {
    for read in reads {
      read.job.abandon()
      read.request.fail(.notRunning, "Pinna was stopped before this was done; start it again with: pinna run")
    }
    reads = []
  }
}
