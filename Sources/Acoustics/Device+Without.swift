extension Device {
  /// The device as it is while some of its microphones do not work. A data source keeps the microphones that it has
  /// left, and the patterns that they are enough for. If its first microphone, which is its omnidirectional pattern, is
  /// missing, the nearest one takes its place; if all are, the nearest of the device's others does.
  ///
  /// Cases are offered that a whole device would not offer: they are still better than the omnidirectional pattern,
  /// which replaces them otherwise.
  /// - Parameter names: of microphones of the device. Without any left, the device has no data sources.
  public func without(microphones names: Set<String>) -> Device {
    let kept = microphones.indices.filter { !names.contains(microphones[$0].name) }
    let places = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($1, $0) })
    let sources = dataSources.compactMap { source -> DataSource? in
      let own = remaining(of: source, kept: kept).compactMap { places[$0] }
      guard !own.isEmpty else { return nil }
      let possible = source.polarPatterns.filter { pattern in
        pattern == .omnidirectional || (pattern.isOriented ? kept.count : own.count) >= 2
      }
      // It replaces the cases that cannot be made, so every data source has it, but for one of B-format, which it cannot
      // replace.
      let isReplaced = !possible.contains(.omnidirectional) && !source.offersAmbisonics
      let patterns = isReplaced ? [.omnidirectional] + possible : possible
      return source.offering(
        patterns, in: patterns.contains(where: \.isOriented) ? source.stereoOrientations : [],
        microphones: own)
    }
    var device = self
    let channels = captureChannels
    device.microphones = kept.map { microphones[$0].on(channel: channels[$0]) }
    device.dataSources = sources
    device.capturePorts = capturePorts.count == microphones.count ? kept.map { capturePorts[$0] } : []
    device.design.stereo.minimumAngle = .degrees(
      min(design.stereo.minimumAngle.degrees, Self.leastSideWithout))
    device.design.mono.minimumFrontBack = min(design.mono.minimumFrontBack, Self.leastFrontBackWithout)
    if case .measured = body { device.measuredMicrophones = measuredMicrophones ?? microphones }
    return device
  }

  /// In degrees.
  private static let leastSideWithout = 15.0
  private static let leastFrontBackWithout = Decibels(1)

  /// The channels that `source` has left, the one for its omnidirectional pattern first.
  private func remaining(of source: DataSource, kept: [Int]) -> [Int] {
    guard let first = source.microphones.first else { return [] }
    let own = source.microphones.filter(kept.contains)
    if own.first == first { return own }
    func distance(_ channel: Int) -> Double {
      (microphones[channel].position - microphones[first].position).length
    }
    guard let nearest = (own.isEmpty ? kept : own).min(by: { distance($0) < distance($1) }) else { return [] }
    return [nearest] + own.filter { $0 != nearest }
  }
}
