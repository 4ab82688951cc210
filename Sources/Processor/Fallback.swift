import Acoustics
import FilterDesign
import Realtime
import Rendering

/// The filters for as long as some microphones are missing. They belong to no setting: what the user chose stays, and
/// so does the lock while recording.
struct Fallback {
  /// Which microphones are missing, and why.
  var watch = MicrophoneWatch()
  /// When the callback was last seen to run, and the number of its periods then: without periods the meters stand still.
  var lastPeriods: (count: Int, instant: ContinuousClock.Instant)?
  /// The design or reading of filters without `missing`.
  var job: (missing: Set<String>, job: Job<FilterSets>, deadline: ContinuousClock.Instant)?
  /// Whether the operator knows that `job` designs filters.
  var toldOfDesign = false
  /// The microphones that the filters of the next change or substitution do without.
  var chosen: Set<String> = []
  /// What the chosen filters do less well.
  var remarks: [CaseRemark] = []
  /// The microphones that the filters in force do without.
  var inForce: Set<String> = []
  /// For which missing microphones there are no filters, and why.
  var failure: (missing: Set<String>, reason: String)?
  /// What the filters did without, from which frame of the engine on: since the last change, which emptied the pre-roll.
  private var history: [(frame: Int, missing: Set<String>)] = [(.min, [])]
  private static let historyLimit = 256

  /// What the chosen filters do less well with `selection`; nil if nothing.
  func remark(on selection: Selection) -> String? {
    remarks.first {
      let own = $0.filterCase
      return own.dataSource == selection.dataSource && own.polarPattern == selection.polarPattern
        && own.inputOrientation ?? selection.inputOrientation == selection.inputOrientation
    }?.text
  }

  /// The filters that are got ready before a microphone fails.
  var preparation = FallbackPreparation()

  /// Whether filters are being made.
  var isBusy: Bool { job != nil }

  /// A change is in force, whose filters do without `missing`.
  mutating func changed(without missing: Set<String>) {
    inForce = missing
    history = [(.min, missing)]
  }

  /// The fade to filters without `missing` begins.
  mutating func began(at frame: Int, without missing: Set<String>) {
    history.append((frame, missing))
    guard history.count > Self.historyLimit else { return }
    history.removeFirst()
    history[0].frame = .min
  }

  /// What the filters did without from `start` on: pairs of a frame, from 0 at `start`, and the missing microphones.
  func history(from start: Int) -> [(frame: Int, missing: Set<String>)] {
    let first = history.last { $0.frame <= start }?.missing ?? []
    let later = history.filter { $0.frame > start }.map { ($0.frame - start, $0.missing) }
    return (first.isEmpty ? [] : [(0, first)]) + later
  }
}
