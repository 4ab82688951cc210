import Acoustics
import Threads

/// Lists who speaks where from a frame on that has passed already: a take begins before anybody can know it. What it finds
/// is what `TalkerSearch` finds in that take's microphones.
///
/// Thread: worker, but for what says otherwise.
final class TalkerListing: Sendable {
  /// How long before now a list can begin: longer than the longest pre-roll.
  private static let reach = 70.0

  /// How many are remembered, some 3 MB: more than speech has in that time.
  private static let mostOnsets = 400_000

  /// Of what was heard before it was asked for, the worker makes up for so many at a time: it must not be late.
  private static let stepsAtATime = 400

  private struct Step {
    let clock: Int
    /// Nil for silence.
    let level: Double?
    let onsets: Int
  }

  private struct State {
    /// The first frame of the list that was asked for last; nil for none.
    var wanted: Int?
    var changes: [TalkerChange] = []
    /// Worker only.
    var tracker: TalkerTracker?
    var steps: [Step] = []
    var onsets: [DirectionFinder.Onset] = []
    /// Those that the tracker hears next.
    var next = (step: 0, onset: 0)
  }

  private let state = Locked(State())

  /// Lists from a frame of the engine's clock on; nil for no more.
  ///
  /// Thread: any.
  func begin(at clock: Int?) {
    state.withLock {
      ($0.wanted, $0.tracker) = (clock, nil)
      $0.changes = []
    }
  }

  /// What has been found since the last call.
  ///
  /// Thread: any.
  func take() -> [TalkerChange] {
    state.withLock { state in
      defer { state.changes = [] }
      return state.changes
    }
  }

  /// Makes room for all that is remembered, so that the worker allocates nothing later.
  func prepare(_ finder: DirectionFinder) {
    state.withLock { state in
      (state.steps, state.onsets) = ([], [])
      state.steps.reserveCapacity(Int(1.5 * Self.reach / finder.secondsPerUpdate) + 2)
      state.onsets.reserveCapacity(Self.mostOnsets)
      state.next = (0, 0)
    }
  }

  /// Goes on by what frames have led to.
  func take(_ step: DirectionFinder.Step, of finder: DirectionFinder, _ makeTracker: () -> TalkerTracker) {
    if case .none = step { return }
    state.withLock { state in
      var level: Double?
      if case .directions = step { level = finder.level }
      if level != nil { state.onsets.append(contentsOf: finder.onsets) }
      state.steps.append(
        Step(clock: finder.clock, level: level, onsets: level == nil ? 0 : finder.onsets.count))
      if let first = state.steps.first,
        Double(finder.clock - first.clock) > 1.5 * Self.reach * finder.sampleRate
          || state.onsets.count > Self.mostOnsets - DirectionFinder.mostOnsets
      {
        let old = max(
          state.steps.count / 4,
          state.steps.prefix { Double(finder.clock - $0.clock) > Self.reach * finder.sampleRate }.count)
        let onsets = state.steps[..<old].reduce(0) { $0 + $1.onsets }
        state.onsets.removeFirst(onsets)
        state.steps.removeFirst(old)
        state.next = (max(0, state.next.step - old), max(0, state.next.onset - onsets))
      }
      guard let start = state.wanted else { return }
      if state.tracker == nil {
        state.tracker = makeTracker()
        state.tracker?.begin(at: start)
        state.next = (0, 0)
      }
      guard let tracker = state.tracker else { return }
      var left = Self.stepsAtATime
      while state.next.step < state.steps.count, left > 0 {
        let step = state.steps[state.next.step]
        let onsets = state.onsets[state.next.onset..<state.next.onset + step.onsets]
        state.next = (state.next.step + 1, state.next.onset + step.onsets)
        guard step.clock > start else { continue }
        left -= 1
        if let level = step.level {
          tracker.take(onsets, level: level, at: step.clock)
        } else {
          tracker.pass(to: step.clock)
        }
      }
      state.changes += tracker.changes ?? []
      tracker.changes = []
    }
  }

  /// What was heard so far counts no more.
  func reset() {
    state.withLock { state in
      state.steps.removeAll(keepingCapacity: true)
      state.onsets.removeAll(keepingCapacity: true)
      state.next = (0, 0)
      state.tracker?.reset()
    }
  }
}
