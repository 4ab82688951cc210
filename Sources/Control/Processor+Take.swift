import Foundation
import Recording

/// Takes: begun and ended through the same queue as every change.
extension Processor {
  func startTake(folder: TakeFolder, reply: @escaping Reply) throws {
    try refuseDuringTake()
    try refuseDuringSwap()
    let writer = try TakeWriter(
      folder: folder, preset: wanted.preset, channels: wanted.selection.polarPattern.channels,
      sampleRate: client.sampleRate)
    do {
      keep(try engine.beginTake(into: writer.ring), .takeBegin, reply)
    } catch {
      writer.discard()
      throw error
    }
    take = writer
  }

  func stopTake(reply: @escaping Reply) throws {
    guard take != nil, finishing == nil else {
      throw Failure(.failed, "nothing is being recorded; start with: pinna record start")
    }
    keep(try engine.endTake(), .takeEnd, nil)
    finishing = (reply, Self.deadline())
  }

  /// A take that no period has come to begin leaves no file, and does not begin later.
  func cancelTake() {
    _ = try? engine.endTake()
    take?.discard()
    take = nil
  }

  /// Ends a take whatever the server does; what is in the ring reaches the disk. Nil where none is running.
  func finishTake() -> TakeWriter.Result? {
    guard let take else { return nil }
    if client.isServerGone { take.abandon() } else { _ = try? engine.endTake() }
    let end = ContinuousClock.now + .seconds(2)
    while !take.isFinished, ContinuousClock.now < end { usleep(10_000) }
    take.abandon()
    return finish(take, finishing?.reply)
  }

  func pollTake() {
    guard let finishing, let take else { return }
    if take.isFinished {
      finish(take, finishing.reply)
    } else if ContinuousClock.now > finishing.deadline, !take.ring.isFinished {
      // No period has come to end it: what is in the ring is the take.
      take.abandon()
    }
  }

  @discardableResult
  private func finish(_ take: TakeWriter, _ reply: Reply?) -> TakeWriter.Result {
    let result = take.finish()
    if incompleteTake == nil, result.fault != nil { incompleteTake = result }
    self.take = nil
    finishing = nil
    if let fault = result.fault {
      reply?(Answer(.incompleteTake, "the take \(result.path) is incomplete: \(fault)"))
    } else {
      reply?(
        Answer(.done, json(TakeAnswer(take: result.path, channels: take.channels, frames: result.frames))))
    }
    return result
  }
}
