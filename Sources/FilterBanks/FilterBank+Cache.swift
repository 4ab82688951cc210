import Acoustics
import FilterDesign
import Foundation
import Numerics

extension FilterBank {
  /// What ships or an earlier design of the same device left in the cache, or else a new design, which is left
  /// there.
  ///
  /// The cache is `pinna/filters` under XDG_CACHE_HOME or ~/.cache. One that is broken or cannot be written is
  /// never an error, only a slower start. `progress` is called where something is designed.
  /// - Parameters:
  ///   - shipped: folders with banks that came with their devices; they are only read.
  ///   - cancellation: ends a design early, with `DesignError.cancelled`.
  public static func cached(
    device: Device, sampleRate: Int, shipped: [String] = [], cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try cached(
      device: device, sampleRate: sampleRate, cache: CacheFolder.path + "/filters", shipped: shipped,
      cancellation: cancellation, progress: progress)
  }

  package static func cached(
    device: Device, sampleRate: Int, cache: String, shipped: [String] = [],
    cancellation: DesignCancellation? = nil, progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try check(device, sampleRate: sampleRate)
    let name = keptName(device: device, sampleRate: sampleRate)
    for folder in shipped + [cache] {
      if let bank = try? FilterBank(folder: "\(folder)/\(name)"), bank.fits(device, sampleRate: sampleRate) {
        return bank
      }
    }
    let bank = try design(
      device: device, sampleRate: sampleRate, cancellation: cancellation, progress: progress)
    bank.keep(in: "\(cache)/\(name)")
    return bank
  }

  /// The folder that a design of `device` is kept in: other filters, another name.
  package static func keptName(device: Device, sampleRate: Int) -> String {
    let key = DesignKey(device: device, sampleRate: sampleRate)
    return "\(plainName(device.name))-\(sampleRate)-\(key.hash)"
  }

  /// Whether this is what a design of `device` would have brought: the cache may hold anything.
  private func fits(_ device: Device, sampleRate: Int) -> Bool {
    let grid = DesignGrid(sampleRate: sampleRate, parameters: device.design.grid)
    let refused = Set(refusals.map(\.filterCase))
    return self.device == device.name && self.sampleRate == sampleRate
      && microphones == device.microphones.map(\.name) && tapCount == grid.tapCount
      && delayFrames == grid.delayFrames && refused.isSubset(of: device.filterCases)
      && cases.map(\.filterCase) == device.filterCases.filter { !refused.contains($0) }
  }

  /// Writes into a folder of its own and renames that: another process never reads half a bank.
  private func keep(in folder: String) {
    let files = FileManager.default
    let scratch = "\(folder).\(UUID().uuidString).part"
    do {
      try write(folder: scratch)
      try? files.removeItem(atPath: folder)
      try files.moveItem(atPath: scratch, toPath: folder)
    } catch {
      try? files.removeItem(atPath: scratch)
    }
  }
}
