import Acoustics
import FilterDesign
import Foundation
import Rendering

/// Filters of one tap for every case of a device. Those of a device with one case, as are made for looks, are weak. Their remarks are the names of the microphones that they do without.
enum FakeFilters {
  private struct Key: Hashable {
    let device: Device
    let rate: Int
    let missing: Set<String>
  }
  /// No `Mutex`: where threads wait for one, they do so in a library that is not instrumented, and ThreadSanitizer takes what
  /// it guards for a race.
  private static let lock = NSLock()
  nonisolated(unsafe) private static var made: [Key: FilterSets] = [:]

  static func sets(_ device: Device, rate: Int, missing: Set<String> = []) -> FilterSets {
    lock.withLock {
      let key = Key(device: device, rate: rate, missing: missing)
      if let known = made[key] { return known }
      let microphones = device.microphones.map(\.name).filter { !missing.contains($0) }
      let taps = Taps<Float>(outputs: 2, microphones: microphones.count, length: 1)
      let sets = FilterSets(
        FilterBank(
          device: device.name, sampleRate: rate, microphones: microphones, delayFrames: 0, tapCount: 1,
          cases: device.filterCases.map { FilterCoefficients(filterCase: $0, taps: taps) },
          weaknesses: device.filterCases.count == 1
            ? [CaseRemark(filterCase: device.filterCases[0], text: "it is a fake")] : [],
          remarks: missing.sorted()))
      made[key] = sets
      return sets
    }
  }
}
