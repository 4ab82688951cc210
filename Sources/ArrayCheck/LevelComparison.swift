import Acoustics
import Glibc

/// How loud each microphone is against the median one, with what body, capsules and near sources explain taken off.
struct LevelComparison {
  /// In dB, one per microphone.
  let deviations: [Double]
  /// Greatest difference between microphones that had to be explained by the array itself, in dB.
  let explained: Double

  /// A microphone whose level deviates by more is reported, in dB. Capsules of ±2 dB stay below, whatever the median is.
  static let threshold = 4.7

  /// Of no microphones.
  init() { (deviations, explained) = ([], 0) }

  /// - Parameters:
  ///   - sources: the best source of each event.
  ///   - order: the microphone that each channel carries.
  init(_ events: SoundEvents, table: SteeringTable, sources: [Int], order: [Int]) {
    let count = events.microphones
    let directions = Set(table.directions.map { [$0.x, $0.y, $0.z] }).count
    if table.isDirectional {
      (deviations, explained) = Self.byEnergy(events, table: table, sources: sources, order: order)
      return
    }
    var deviations = [Double](repeating: 0, count: count)
    var explained = [Double](repeating: 0, count: count)
    // Which distance explains the levels best depends on the deviations, and they on it.
    for _ in 0..<3 {
      var residuals = [[Double]](repeating: [], count: count)
      explained = [Double](repeating: 0, count: count)
      for e in 0..<events.count {
        let choices = stride(from: sources[e] % directions, to: table.sources, by: directions).map { source in
          let values = (0..<count).map { m in events.levels[e][m] - table.levels[source][order[m]] }
          let centre = median(zip(values, deviations).map { $0 - $1 })
          let spread = zip(values, deviations).reduce(0) { $0 + abs($1.0 - $1.1 - centre) }
          return (source: source, values: values.map { $0 - centre }, spread: spread)
        }
        let best = choices.min { $0.spread < $1.spread }!
        for m in 0..<count {
          residuals[m].append(best.values[m])
          explained[m] += table.levels[best.source][order[m]] / Double(max(1, events.count))
        }
      }
      let medians = residuals.map(median)
      let centre = median(medians)
      deviations = medians.map { $0 - centre }
    }
    self.deviations = deviations
    self.explained = (explained.max() ?? 0) - (explained.min() ?? 0)
  }

  /// Directional capsules hear some events from behind, where reverberation decides: energies over all events count.
  private static func byEnergy(
    _ events: SoundEvents, table: SteeringTable, sources: [Int], order: [Int]
  ) -> (deviations: [Double], explained: Double) {
    let count = events.microphones
    var measured = [Double](repeating: 0, count: count)
    var modelled = measured
    for e in 0..<events.count {
      let heard = (0..<count).map { pow(10, events.levels[e][$0] / 10) }
      let model = (0..<count).map { pow(10, table.levels[sources[e]][order[$0]] / 10) }
      let scale = heard.reduce(0, +) / model.reduce(0, +)
      // Loud events do not count more than quiet ones.
      let total = heard.reduce(0, +)
      for m in 0..<count {
        measured[m] += heard[m] / total
        modelled[m] += scale * model[m] / total
      }
    }
    let levels = modelled.map { 10 * log10(max(1e-9, $0)) }
    let values = measured.indices.map { 10 * log10(max(1e-9, measured[$0])) - levels[$0] }
    let centre = median(values)
    return (values.map { $0 - centre }, (levels.max() ?? 0) - (levels.min() ?? 0))
  }
}

func median(_ values: [Double]) -> Double {
  guard !values.isEmpty else { return 0 }
  let sorted = values.sorted()
  return 0.5 * (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2])
}
