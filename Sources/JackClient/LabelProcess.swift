import CJack
import Threads

/// Runs the helper process that writes labels (`LabelWriter`). The process lives as long as the connection whose ports
/// it labels, because a client that leaves while another joins can stop the graph (`StaleClients`).
///
/// Thread: metadata thread.
final class LabelProcess: @unchecked Sendable {
  // Unchecked: only the metadata thread uses the properties.
  private var helper: (owner: Int, process: HelperProcess)?
  /// The connection whose helper failed; no other helper is started for it.
  private var refused = 0

  func perform(_ job: MetadataThread.Job) {
    let isWanted = job.isWanted()
    // End the helper when its own connection closes or another connection has labels to write.
    if let helper, (helper.owner == job.owner) != isWanted { self.helper = nil }
    guard isWanted, job.owner != refused else { return }
    if helper == nil { start(job) }
    write(LabelRequest(port: job.port, label: job.label), owner: job.owner)
  }

  private func start(_ job: MetadataThread.Job) {
    guard let process = LabelWriter.start(server: job.server) else {
      refused = job.owner
      return
    }
    helper = (job.owner, process)
    for port in MetadataThread.drainStale() { write(LabelRequest(port: port, label: nil), owner: job.owner) }
  }

  private func write(_ order: LabelRequest, owner: Int) {
    guard let process = helper?.process, process.ask(order.packet) != LabelWriter.done else { return }
    // The server has probably died.
    refused = owner
    helper = nil
  }
}
