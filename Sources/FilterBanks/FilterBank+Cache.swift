import Acoustics
import AudioFiles
import FilterDesign
import Numerics
import Presets

extension FilterBank {
  /// The filters of `device`: those that ship with its preset, those in the cache, or newly designed ones, which are
  /// stored in the cache; all with the deviations of its microphones undone.
  ///
  /// Presets that ship include filters for 44.1 and 48 kHz, in the folder `filters` beside them. The cache is
  /// `pinna/filters` under XDG_CACHE_HOME or ~/.cache. A broken or read-only cache is not an error: the filters are
  /// then designed each time. Of several that want the same filters, one designs them.
  /// - Parameters:
  ///   - sampleRate: 8000…192 000 Hz.
  ///   - cancellation: ends a design early.
  ///   - progress: called with the fraction that is done, 0…1, only if filters are designed.
  ///   - notStored: called with the reason if new filters cannot be stored in the cache.
  /// - Throws: `DesignError.cancelled` if `cancellation` ended the design; another `DesignError` if the device's
  ///   filters cannot be designed.
  public static func ready(
    device: Device, sampleRate: Int, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil, notStored: (any Error) -> Void = { _ in }
  ) throws(DesignError) -> FilterBank {
    var bank = try cached(
      device: device, sampleRate: sampleRate, cache: CacheFolder.path + "/filters",
      shipped: PresetLibrary.standard.folders.map { $0 + "/filters" }, cancellation: cancellation,
      progress: progress, notStored: notStored
    ).undoing(device.deviations)
    for path in device.measuredFiles { bank.files[path] = ContentHash.ofFile(path) }
    return bank
  }

  /// The filters of `device` whose microphones do not deviate.
  /// - Parameter shipped: folders of banks that ship with their devices; they are only read.
  package static func cached(
    device: Device, sampleRate: Int, cache: String, shipped: [String] = [],
    cancellation: DesignCancellation? = nil, progress: (@Sendable (Double) -> Void)? = nil,
    notStored: (any Error) -> Void = { _ in }
  ) throws(DesignError) -> FilterBank {
    try check(device, sampleRate: sampleRate)
    func bank(in folder: String, named name: String) -> FilterBank? {
      guard let bank = try? FilterBank(storedAt: "\(folder)/\(name)"),
        bank.fits(device, sampleRate: sampleRate)
      else { return nil }
      return bank
    }
    // Shipped filters do not need the HRTF file that they were designed with.
    let shippedName = storedName(device: device, sampleRate: sampleRate, packagedHead: true)
    if let bank = shipped.lazy.compactMap({ bank(in: $0, named: shippedName) }).first { return bank }
    let name = storedName(device: device, sampleRate: sampleRate)
    func stored() -> FilterBank? {
      let found = bank(in: cache, named: name)
      if found != nil { StoredFiles.use("\(cache)/\(name).json") }
      return found
    }
    if let bank = stored() { return bank }
    let lock = try DesignLock.acquire("\(cache)/\(name).lock", cancellation: cancellation)
    defer { withExtendedLifetime(lock) {} }
    if lock != nil, let bank = stored() { return bank }
    let near = try device.inward.map { (inward) throws(DesignError) in
      try cached(device: inward, sampleRate: sampleRate, cache: cache, cancellation: cancellation)
    }
    let bank = try design(
      device: device, sampleRate: sampleRate, near: near, cancellation: cancellation, progress: progress)
    // Not an error: without a cache, filters are designed each time.
    do { try bank.store(in: cache, as: name) } catch { notStored(error) }
    return bank
  }

  /// The name, without an extension, of the files with a design of `device`. Different filters have different names.
  /// - Parameter packagedHead: see `DesignKey`; true for filters that ship.
  package static func storedName(device: Device, sampleRate: Int, packagedHead: Bool = false) -> String {
    let key = DesignKey(device: device, sampleRate: sampleRate, packagedHead: packagedHead)
    return "\(plainName(device.name))-\(sampleRate)-\(key.hash)"
  }

  /// Whether this bank could be a design of `device`. The contents of the cache are not trusted.
  private func fits(_ device: Device, sampleRate: Int) -> Bool {
    let grid = DesignGrid(sampleRate: sampleRate, parameters: device.design.grid)
    let refused = Set(refusals.map(\.filterCase))
    return self.device == device.name && self.sampleRate == sampleRate
      && microphones == device.microphones.map(\.name) && refused.isSubset(of: device.filterCases)
      // A folder without cases states no lengths.
      && (cases.isEmpty || (tapCount == grid.tapCount && delayFrames == grid.delayFrames))
      && cases.map(\.filterCase) == device.filterCases.filter { !refused.contains($0) }
  }
}
