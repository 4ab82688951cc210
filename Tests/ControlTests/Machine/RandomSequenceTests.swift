import Dispatch
import Foundation
import Processor
import Realtime
import Synchronization
import TestSupport
import Testing
import Threads

@Suite("The processor under random events") struct RandomSequenceTests {
  /// 4000 in the gate; `make soak` sets PINNA_SEQUENCES to 10 million.
  static let sequences =
    ProcessInfo.processInfo.environment["PINNA_SEQUENCES"].flatMap(Int.init)
    ?? (ProcessInfo.processInfo.environment["PINNA_QUICK"] == "1" ? 1000 : 4000)
  static let steps = 50

  @Test(
    """
    R28: the processor answers each request once, refuses nothing for a take that is not shown, never waits without a \
    deadline, and ends with the last accepted setting
    """)
  func sequences() {
    let first = ProcessInfo.processInfo.environment["PINNA_SEED"].flatMap(UInt64.init) ?? 0
    let began = ContinuousClock.now
    let total = Locked((counts: RandomSequence.noCounts, violations: [String]()))
    let blocks = 64
    DispatchQueue.concurrentPerform(iterations: blocks) { block in
      var counts = RandomSequence.noCounts
      var violations: [String] = []
      for n in stride(from: block, to: Self.sequences, by: blocks) {
        do {
          // From half as many steps to half as many again.
          try RandomSequence.run(
            seed: first + UInt64(n), steps: Self.steps / 2 + n % (Self.steps + 1), counts: &counts)
        } catch {
          violations.append("\(error)")
          if violations.count > 3 { break }
        }
      }
      total.withLock { total in
        for (state, row) in counts.enumerated() {
          for (event, count) in row.enumerated() { total.counts[state][event] += count }
        }
        total.violations += violations
      }
    }
    let (counts, violations) = total.withLock { $0 }
    for violation in violations.sorted(by: { $0.count < $1.count }).prefix(5) { Issue.record("\(violation)") }
    let took = ContinuousClock.now - began
    print(
      "\(Self.sequences) sequences from seed \(first) in \(took); how often each event occurred in each state:"
    )
    for (state, row) in zip(ProcessorState.Kind.allCases, counts) {
      let occurred = zip(RigEvent.allCases, row).filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
      print("  \(state): \(occurred.joined(separator: ", "))")
    }
    // Under the sanitizers there are too few sequences for every event to occur in every state.
    guard Self.sequences >= 50_000 else { return }
    let unmet = zip(ProcessorState.Kind.allCases, counts).flatMap { (state, row) -> [String] in
      zip(RigEvent.allCases, row).filter { $1 == 0 && Self.isExpected($0, in: state) }.map {
        "\($0.0) in \(state)"
      }
    }
    #expect(unmet.isEmpty, "never occurred: \(unmet.joined(separator: ", "))")
  }

  /// Requests and time occur in every state; events of the world occur where they can.
  static func isExpected(_ event: RigEvent, in state: ProcessorState.Kind) -> Bool {
    if event.isRequest || [.millisecond, .tenthOfSecond, .seconds].contains(event) { return true }
    let late: [RigEvent] = [.designEnds, .designFails]
    let inGraph: [RigEvent] =
      late + [
        .period, .periods, .prepareEnds, .prepareFails, .takeEnds, .takeEndsIncomplete, .periodIsSet,
        .periodIsRefused, .serverGoes, .requesterGoes, .microphoneFails, .microphoneReturns, .fallbackEnds,
        .transportRolls, .transportStops,
      ]
    let expected: [RigEvent] =
      switch state {
      case .absent: late
      case .opening: late + [.openSucceeds, .openAtOtherRate, .openFails, .openFindsNoServer]
      case .joining: late + [.serverGoes]
      case .preparing: [.prepareEnds, .prepareFails, .serverGoes]
      case .unusable: [.serverGoes]
      case .leaving:
        late + [.closeEnds, .closeFails, .prepareEnds, .prepareFails, .takeEnds, .takeEndsIncomplete]
      case .stranded: late + [.closeEnds]
      case .live: inGraph + [.diskHangs, .graphStalls, .newClientRuns, .newClientStalls]
      case .fadingOut: [.period, .periods, .serverGoes, .requesterGoes, .periodIsSet, .takeEnds]
      case .openingTake: inGraph + [.takeOpens, .takeFailsToOpen]
      case .startingTake: inGraph + [.diskHangs]
      case .armed, .recording: inGraph + [.diskHangs, .graphStalls, .newClientRuns]
      case .endingTake: [.period, .periods, .serverGoes, .requesterGoes, .diskHangs]
      case .openingPlayback: inGraph + [.playerOpens, .playerFails]
      case .playing, .endingPlayback: inGraph + [.playbackRunsOut]
      case .stopping: [.period, .periods, .takeEnds, .takeEndsIncomplete, .diskHangs, .serverGoes]
      case .stopped: late + [.openSucceeds, .closeEnds]
      }
    return expected.contains(event)
  }
}
