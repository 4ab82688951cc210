import Acoustics
import Glibc

/// How loud each microphone is against the median one, with what body, capsules and near sources explain taken off.
struct LevelComparison {
  /// In dB, one per channel.
  let deviations: [Double]
  /// Greatest difference between microphones that had to be explained by the array itself, in dB.
  let explained: Double

  /// - Parameter powers: the order of the channels, and the best source of each event.
  init(_ events: SoundEvents, table: SteeringTable, powers: SteeredPowers) {
    let models = powers.sources.map { source in
      // The same direction from every distance.
      stride(from: source % table.directions.count, to: table.sources, by: table.directions.count).map {
        source in powers.order.map { table.levels[source][$0] }
      }
    }
    // Directional capsules hear some events from behind, where reverberation decides: energies over all events count.
    self =
      table.isDirectional
      ? Self.byEnergy(events.levels, models.map { $0[0] }) : Self.byEvents(events.levels, models)
  }

  private init(_ values: [Double], explained: [Double]) {
    let centre = median(values)
    deviations = values.map { $0 - centre }
    self.explained = (explained.max() ?? 0) - (explained.min() ?? 0)
  }

  /// - Parameter models: the levels that each distance explains. Shape: `[event][distance][microphone]`.
  private static func byEvents(_ levels: [[Double]], _ models: [[[Double]]]) -> LevelComparison {
    let microphones = levels[0].indices
    var found = LevelComparison(microphones.map { _ in 0 }, explained: [])
    // Which distance explains the levels best depends on the deviations, and they on it.
    for _ in 0..<3 {
      let best = zip(levels, models).map { heard, models in
        models.map { Residual(heard, $0, deviations: found.deviations) }.min { $0.spread < $1.spread }!
      }
      found = LevelComparison(
        microphones.map { m in median(best.map { $0.values[m] }) },
        explained: microphones.map { m in best.reduce(0) { $0 + $1.model[m] / Double(best.count) } })
    }
    return found
  }

  /// What is left of an event's levels at one distance of its source.
  private struct Residual {
    let model: [Double]
    let values: [Double]
    /// Sum of the differences to the deviations.
    let spread: Double

    init(_ heard: [Double], _ model: [Double], deviations: [Double]) {
      let values = zip(heard, model).map { $0 - $1 }
      let centre = median(zip(values, deviations).map { $0 - $1 })
      self.model = model
      self.values = values.map { $0 - centre }
      spread = zip(values, deviations).reduce(0) { $0 + abs($1.0 - $1.1 - centre) }
    }
  }

  private static func byEnergy(_ levels: [[Double]], _ models: [[Double]]) -> LevelComparison {
    // Loud events do not count more than quiet ones.
    let measured = decibels(sum(of: levels.map(shares)))
    let modelled = decibels(sum(of: models.map(shares)))
    return LevelComparison(zip(measured, modelled).map { $0 - $1 }, explained: modelled)
  }

  /// Energies from levels, of the event's energy.
  private static func shares(_ levels: [Double]) -> [Double] {
    let energies = levels.map { pow(10, $0 / 10) }
    let total = energies.reduce(0, +)
    return energies.map { $0 / total }
  }

  private static func sum(of rows: [[Double]]) -> [Double] {
    rows.dropFirst().reduce(rows[0]) { zip($0, $1).map { $0 + $1 } }
  }

  private static func decibels(_ energies: [Double]) -> [Double] {
    energies.map { 10 * log10(max(1e-9, $0)) }
  }
}
