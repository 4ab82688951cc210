import Acoustics
import Realtime

/// Where the filters of an engine's feeds come from, besides the filter sets of its device: sets without missing
/// microphones, and sets of cases that are designed on demand.
public struct FilterChoice: Sendable {
  /// Which filters: a case of a device at a rate, without some microphones.
  public struct Key: Hashable, Sendable {
    public let device: Device
    public let selection: Selection
    public let sampleRate: Int
    /// Names of microphones.
    public let missing: Set<String>

    public init(device: Device, selection: Selection, sampleRate: Int, missing: Set<String>) {
      (self.device, self.selection) = (device, selection)
      (self.sampleRate, self.missing) = (sampleRate, missing)
    }
  }

  /// The microphones that filters do without from now on.
  public private(set) var missing: Set<String> = []
  /// The sets of the device's own cases without them; nil while none is missing.
  private var fallback: FilterSets?
  /// The sets of cases designed on demand, and when each was last asked for.
  private var own: [Key: (sets: FilterSets, use: Int)] = [:]
  private var uses = 0
  /// All looks of two patterns around a ring, and more.
  package static let mostOwn = 192

  public init() {}

  public mutating func use(_ fallback: FilterSets?, without missing: Set<String>) {
    (self.fallback, self.missing) = (fallback, missing)
  }

  /// Keeps the sets of a case designed on demand, and forgets the one that nobody has asked for the longest.
  /// - Parameter inUse: keys of sets that are not forgotten.
  public mutating func keep(_ sets: FilterSets, for key: Key, notForgetting inUse: [Key] = []) {
    use(key, sets)
    guard own.count > Self.mostOwn else { return }
    let others = own.filter { !inUse.contains($0.key) }
    if let oldest = others.min(by: { $0.value.use < $1.value.use }) { own[oldest.key] = nil }
  }

  private mutating func use(_ key: Key, _ sets: FilterSets) {
    uses += 1
    own[key] = (sets, uses)
  }

  /// The key of the case that has to be designed before `selection` can be played; nil if there are filters, at least for
  /// all microphones.
  /// - Throws: `UnknownWord` or `Unsupported` if there can be none.
  public mutating func missingKey(
    for selection: Selection, of device: Device, sampleRate: Int
  ) throws -> Key? {
    guard try device.ownDevice(of: selection) != nil else { return nil }
    for missing in [missing, []] {
      let key = Key(device: device, selection: selection, sampleRate: sampleRate, missing: missing)
      guard let found = own[key] else { continue }
      use(key, found.sets)
      return nil
    }
    return Key(device: device, selection: selection, sampleRate: sampleRate, missing: missing)
  }

  public func contains(_ key: Key) -> Bool { own[key] != nil }

  /// The filters for `selection`, without the missing microphones as far as there are such filters.
  /// - Parameter sets: those of `device`.
  /// - Throws: `UnknownWord` or `Unsupported` if there are none.
  public func filters(for selection: Selection, of device: Device, _ sets: FilterSets) throws -> FilterSet {
    guard let ownDevice = try device.ownDevice(of: selection) else {
      return try (fallback ?? sets).filters(for: selection, of: device)
    }
    for missing in [missing, []] {
      let key = Key(
        device: device, selection: selection, sampleRate: sets.bank.sampleRate, missing: missing)
      if let found = own[key] { return try found.sets.filters(for: selection, of: ownDevice) }
    }
    // Those for other missing microphones are better than silence.
    let other = own.first {
      $0.key.device == device && $0.key.selection == selection && $0.key.sampleRate == sets.bank.sampleRate
    }
    guard let other else { throw Unsupported("the filters of this case are not designed yet") }
    return try other.value.sets.filters(for: selection, of: ownDevice)
  }

  /// What the filters of a case designed on demand are weak in; nil if nothing, or if there are none.
  public func weakness(of selection: Selection, of device: Device, sampleRate: Int) -> String? {
    [missing, []].lazy.compactMap { missing in
      own[Key(device: device, selection: selection, sampleRate: sampleRate, missing: missing)]
    }.first?.sets.bank.weaknesses.first?.text
  }

  /// The filters that play one microphone alone.
  public func filters(listeningTo microphone: String, _ sets: FilterSets) throws -> FilterSet {
    try (fallback ?? sets).filters(listeningTo: microphone)
  }

  /// The selection nearest to one with a look among those whose filters are there: another look, or the data source's
  /// forward.
  /// - Parameter present: what takes their place if there are none; if that has no filters either, or is nil, the first
  ///   case of the device does.
  public func nearest(
    to selection: Selection, of device: Device, _ sets: FilterSets, otherwise present: Selection?
  ) -> Selection {
    func isThere(_ selection: Selection) -> Bool { (try? filters(for: selection, of: device, sets)) != nil }
    var forward = selection
    forward.look = nil
    if let source = try? device.dataSource(named: selection.dataSource), let look = selection.effectiveLook {
      let frame = device.frame(of: source, selection.inputOrientation)
      let wanted = look.direction(in: frame).vector
      let looks = own.keys.filter { key in
        var other = key.selection
        other.look = nil
        return other == forward && key.device == device && key.sampleRate == sets.bank.sampleRate
          && key.missing == missing
      }.map(\.selection)
      func nearness(_ selection: Selection) -> Double {
        (selection.effectiveLook?.direction(in: frame) ?? frame.forward).vector.dot(wanted)
      }
      let known = (isThere(forward) ? [forward] : []) + looks
      if let nearest = known.max(by: { nearness($0) < nearness($1) }) { return nearest }
    }
    if let present, isThere(present) { return present }
    let cases = sets.bank.cases.map(\.filterCase)
    guard let first = cases.first(where: { $0.dataSource == selection.dataSource }) ?? cases.first else {
      return forward
    }
    return Selection(
      dataSource: first.dataSource, polarPattern: first.polarPattern,
      inputOrientation: first.inputOrientation ?? selection.inputOrientation)
  }
}
