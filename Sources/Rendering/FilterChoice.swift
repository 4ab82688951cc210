import Acoustics
import FilterDesign
import Realtime
import Threads

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

    /// Without the device's contents, which take long to hash; its name tells nearly all apart.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(device.name)
      hasher.combine(selection)
      hasher.combine(sampleRate)
      hasher.combine(missing)
    }
  }

  /// The microphones that filters do without from now on.
  public private(set) var missing: Set<String> = []
  /// The sets of the device's own cases without them; nil while none is missing.
  private var fallback: FilterSets?
  /// The sets of cases designed on demand, and when each was last asked for.
  private var own: [Key: (sets: FilterSets, use: Int)] = [:]
  private var uses = 0
  /// Changes whenever other filters may be chosen.
  package private(set) var version = 0
  /// What is played in place of selections that follow a pose, on the device in the route.
  private var turned: [Selection: Selection] = [:]
  /// Filters that were mixed from those of other cases. Copies share them.
  private let mixed = MixedFilters()
  /// All looks of two patterns around a ring, and more.
  package static let mostOwn = 192

  public init() {}

  public mutating func use(_ fallback: FilterSets?, without missing: Set<String>) {
    version += 1
    (self.fallback, self.missing) = (fallback, missing)
  }

  /// Plays `wanted` in place of a selection that follows a pose, or what is nearest to that.
  /// - Parameter sets: those of `device`.
  /// - Returns: what is played.
  public mutating func turn(
    _ selection: Selection, to wanted: Selection, of device: Device, _ sets: FilterSets
  ) -> Selection {
    let isThere = hasFilters(for: wanted, of: device, sampleRate: sets.bank.sampleRate)
    let played = isThere ? wanted : nearest(to: wanted, of: device, sets, otherwise: nil)
    play(played, for: selection, of: device, sets)
    return played
  }

  /// Whether all filters of a selection are there, without the missing microphones.
  private func hasFilters(for selection: Selection, of device: Device, sampleRate: Int) -> Bool {
    Self.keys(for: selection, of: device, sampleRate: sampleRate, without: missing).allSatisfy(contains)
  }

  /// Forgets what is played in place of selections: another engine runs, perhaps of another device.
  public mutating func forgetTurned() { turned = [:] }

  /// Plays what is given in place of a selection that follows.
  public mutating func play(
    _ played: Selection, for selection: Selection, of device: Device, _ sets: FilterSets
  ) {
    turned[selection] = played
    // Mixes now, so that the change does not have to wait for it.
    _ = try? filters(for: selection, of: device, sets)
  }

  /// What is played in place of a selection; itself if it does not follow.
  public func played(_ selection: Selection) -> Selection { turned[selection] ?? selection }

  /// Keeps the sets of a case designed on demand, and forgets the one that nobody has asked for the longest.
  /// - Parameter inUse: keys of sets that are not forgotten.
  public mutating func keep(_ sets: FilterSets, for key: Key, notForgetting inUse: [Key] = []) {
    use(key, sets)
    version += 1
    guard own.count > Self.mostOwn else { return }
    let others = own.filter { !inUse.contains($0.key) }
    if let oldest = others.min(by: { $0.value.use < $1.value.use }) { own[oldest.key] = nil }
  }

  private mutating func use(_ key: Key, _ sets: FilterSets) {
    uses += 1
    own[key] = (sets, uses)
  }

  /// The keys of the cases that have to be designed before `selection` can be played without microphones.
  public static func keys(
    for selection: Selection, of device: Device, sampleRate: Int, without missing: Set<String>
  ) -> [Key] {
    selection.parts.compactMap { part, _ in
      guard device.needsOwnFilters(part) else { return nil }
      return Key(device: device, selection: part, sampleRate: sampleRate, missing: missing)
    }
  }

  /// The key of a case that has to be designed before `selection` can be played; nil if there are filters, at least for
  /// all microphones.
  public mutating func missingKey(
    for selection: Selection, of device: Device, sampleRate: Int
  ) -> Key? {
    let wanted = Self.keys(for: selection, of: device, sampleRate: sampleRate, without: missing)
    for key in wanted {
      guard let found = [key, key.withAll].first(where: contains) else { return key }
      use(found, own[found]!.sets)
    }
    return nil
  }

  public func contains(_ key: Key) -> Bool { own[key] != nil }

  /// The filters for `selection`, without the missing microphones as far as there are such filters.
  /// - Parameter sets: those of `device`.
  /// - Throws: `UnknownWord` or `Unsupported` if there are none.
  public func filters(for selection: Selection, of device: Device, _ sets: FilterSets) throws -> FilterSet {
    let selection = played(selection)
    let parts = selection.parts
    let order = selection.pose == .none ? nil : selection.polarPattern.ambisonicsOrder
    if parts.count == 1, order == nil { return try part(parts[0].part, of: device, sets) }
    let rate = sets.bank.sampleRate
    let key = Key(device: device, selection: selection, sampleRate: rate, missing: missing)
    if let found = mixed.find(key) { return found }
    let all = try parts.map { (set: try part($0.part, of: device, sets), gain: $0.gain) }
    var mix = all.count == 1 ? all[0].set : FilterSet(blending: all)
    if let order {
      let source = try device.dataSource(named: selection.dataSource)
      let gains = HarmonicRotation.gains(
        order: order, pose: selection.pose, of: device.frame(of: source, selection.inputOrientation))
      mix = FilterSet(mixing: [(mix, gains.map { $0.map { Float($0) } })])
    }
    // A mix of stand-ins is not stored: the right filters may come later.
    return hasFilters(for: selection, of: device, sampleRate: rate) ? mixed.store(mix, for: key) : mix
  }

  /// The filters of a case of the device, or of one that is designed on demand.
  private func part(_ selection: Selection, of device: Device, _ sets: FilterSets) throws -> FilterSet {
    guard device.needsOwnFilters(selection) else {
      return try (fallback ?? sets).filters(for: selection, of: device)
    }
    let key = Key(device: device, selection: selection, sampleRate: sets.bank.sampleRate, missing: missing)
    for key in [key, key.withAll] {
      guard let found = own[key] else { continue }
      if let only = found.sets.only { return only }
      return try found.sets.filters(for: selection, of: try device.ownDevice(of: selection) ?? device)
    }
    // Those for other missing microphones are better than silence.
    let other = own.first {
      $0.key.device == device && $0.key.selection == selection && $0.key.sampleRate == sets.bank.sampleRate
    }
    guard let other else { throw Unsupported("the filters of this case are not designed yet") }
    return try other.value.sets.filters(for: selection, of: try device.ownDevice(of: selection) ?? device)
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
    if selection.polarPattern == .stereo, selection.pose != .none,
      let nearest = nearestPose(to: selection, of: device, sets)
    {
      return nearest
    }
    var forward = selection
    (forward.look, forward.follows, forward.pose) = (nil, [], .none)
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

/// Filters mixed from those of other cases, least recently used removed first. While a mix is stored, everyone gets the same
/// object: adaptation and changes of gain recognise filters by identity.
///
/// Thread: any.
private final class MixedFilters: Sendable {
  private typealias Entry = (filters: FilterSet, use: Int)
  private let all = Locked<(entries: [FilterChoice.Key: Entry], uses: Int)>(([:], 0))
  /// Of stereo; fewer of larger sets, whose spectra take megabytes each.
  private static let most = 96

  func find(_ key: FilterChoice.Key) -> FilterSet? {
    all.withLock { all in
      all.uses += 1
      all.entries[key]?.use = all.uses
      return all.entries[key]?.filters
    }
  }

  /// - Returns: the stored mix. Another thread may have been first.
  func store(_ mix: FilterSet, for key: FilterChoice.Key) -> FilterSet {
    all.withLock { all in
      if let first = all.entries[key]?.filters { return first }
      all.uses += 1
      all.entries[key] = (mix, all.uses)
      let size = mix.outputs * mix.microphones * mix.taps
      if all.entries.count > max(4, min(Self.most, 4_000_000 / size)),
        let oldest = all.entries.min(by: { $0.value.use < $1.value.use })
      {
        all.entries[oldest.key] = nil
      }
      return mix
    }
  }
}

extension FilterChoice.Key {
  /// With all microphones.
  fileprivate var withAll: Self {
    Self(device: device, selection: selection, sampleRate: sampleRate, missing: [])
  }
}

extension FilterChoice {
  /// The same stereo with another pose, or in another orientation without one; nil if there is none.
  private func nearestPose(
    to selection: Selection, of device: Device, _ sets: FilterSets
  ) -> Selection? {
    guard let source = try? device.dataSource(named: selection.dataSource),
      let wanted = HeadFrame(forward: source.forward, orientation: selection.inputOrientation)
    else { return nil }
    let goal = wanted.turned(by: selection.pose)
    func nearness(_ other: Selection) -> Double {
      guard let frame = HeadFrame(forward: source.forward, orientation: other.inputOrientation) else {
        return -3
      }
      let turned = frame.turned(by: other.pose)
      return turned.forward.vector.dot(goal.forward.vector) + turned.up.vector.dot(goal.up.vector)
        + turned.right.vector.dot(goal.right.vector)
    }
    var plain = selection
    plain.pose = .none
    let held = source.stereoOrientations.map { orientation in
      var other = plain
      other.inputOrientation = orientation
      return other
    }
    let turned = own.keys.filter { key in
      var other = key.selection
      other.pose = .none
      return other == plain && key.device == device && key.sampleRate == sets.bank.sampleRate
        && key.missing == missing
    }.map(\.selection)
    let nearest = (held + turned).map { (selection: $0, nearness: nearness($0)) }
      .sorted { $0.nearness > $1.nearness }
    return nearest.first { (try? filters(for: $0.selection, of: device, sets)) != nil }?.selection
  }
}

extension Selection {
  /// The cases whose filters make those of this selection, with the gains of each. B-format is rotated afterwards.
  var parts: [(part: Selection, gain: Double)] {
    var part = self
    part.follows = []
    if polarPattern.isOriented { part.look = nil }
    if polarPattern == .stereo {
      return pose.neighbours.map { neighbour, gain in
        part.pose = neighbour
        return (part, gain)
      }
    }
    part.pose = .none
    return [(part, 1)]
  }
}
