import Recording

/// The takes of a run, except the one that is running: that one belongs to the state.
package struct Takes {
  package static let maxClosing = 4
  package static let maxHanging = 4

  /// Takes that have ended and that the disk thread is still writing.
  package var closing: [ClosingTake] = []
  /// Takes and playbacks that were abandoned while the disk was still opening them. Each holds a thread.
  var hanging: [any DiskWork] = []
  /// The first incomplete take. `pinna run` then exits with status 7, even if later takes are complete.
  package var incomplete: TakeWriter.Result?
  /// Number of takes begun so far; also the number of the latest take.
  var begun = 0
  /// Own ports that lost a connection during the take and have not regained it.
  var portsAwaitingPeers: Set<String> = []
  /// The latest take, once it is on disk; nil before that, and while a newer take runs.
  var last: EndedTake?
  /// Takes that `stop` ended.
  var endedAtStop: [EndedTake] = []
  /// One sentence per take that was incomplete or unfinished when Pinna stopped.
  package var faultsAtStop: [String] = []

  /// A take has begun.
  /// - Returns: its number.
  mutating func begin() -> Int {
    begun += 1
    last = nil
    portsAwaitingPeers = []
    return begun
  }

  package var outcome: TakeOutcome {
    TakeOutcome(
      areComplete: incomplete == nil && faultsAtStop.isEmpty,
      earlierIncomplete: faultsAtStop.isEmpty ? incomplete?.path : nil)
  }
}
