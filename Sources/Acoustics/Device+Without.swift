extension Device {
  /// The device as it is while some of its microphones do not work: without them, and without the data sources that have
  /// none left.
  /// - Parameter names: of microphones of the device.
  public func without(microphones names: Set<String>) -> Device {
    let kept = microphones.indices.filter { !names.contains(microphones[$0].name) }
    let places = Dictionary(uniqueKeysWithValues: kept.enumerated().map { ($1, $0) })
    let sources = dataSources.compactMap { source -> DataSource? in
      let own = source.microphones.compactMap { places[$0] }
      let patterns = source.polarPatterns.filter { pattern in
        pattern == .stereo ? kept.count >= 2 : own.count >= (pattern == .omnidirectional ? 1 : 2)
      }
      guard !own.isEmpty, !patterns.isEmpty else { return nil }
      return DataSource(
        name: source.name, id: source.id, location: source.location, orientation: source.orientation,
        forward: source.forward, microphones: own, polarPatterns: patterns,
        stereoOrientations: patterns.contains(.stereo) ? source.stereoOrientations : [])
    }
    var device = self
    let channels = captureChannels
    device.microphones = kept.map { microphones[$0].on(channel: channels[$0]) }
    device.dataSources = sources
    device.capturePorts = capturePorts.count == microphones.count ? kept.map { capturePorts[$0] } : []
    return device
  }
}
