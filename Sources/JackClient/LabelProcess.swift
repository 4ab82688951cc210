import CJack
import Threads

/// Has labels written by a process of its own (`LabelWriter`), which stays as long as the connection whose ports it labels:
/// a client that leaves while another joins can stop the graph (`StaleClients`). The metadata thread alone calls it.
final class LabelProcess: @unchecked Sendable {
  // Unchecked: only the metadata thread uses these.
  private var helper: (owner: Int, process: HelperProcess)?
  /// The connection for which no process can be had: none is asked for again.
  private var refused = 0

  func perform(_ job: MetadataThread.Job) {
    let isWanted = job.isWanted()
    // Another connection that closes is no reason to leave; another that has labels is.
    if let helper, (helper.owner == job.owner) != isWanted { self.helper = nil }
    guard isWanted, job.owner != refused else { return }
    if helper == nil { start(job) }
    write(LabelOrder(port: job.port, label: job.label), owner: job.owner)
  }

  private func start(_ job: MetadataThread.Job) {
    guard let process = LabelWriter.start(server: job.server) else {
      refused = job.owner
      return
    }
    helper = (job.owner, process)
    for port in MetadataThread.takeStale() { write(LabelOrder(port: port, label: nil), owner: job.owner) }
  }

  private func write(_ order: LabelOrder, owner: Int) {
    guard let process = helper?.process, process.ask(order.packet) != LabelWriter.done else { return }
    // Most likely the server has just died.
    refused = owner
    helper = nil
  }
}
