extension Device {
  /// The channel of each microphone, counted from 0, in a recording of `count` channels: one per microphone in the
  /// device's order, or all channels of the product.
  /// - Returns: nil if it is neither. A device that names the channels of its microphones, and not how many there are,
  ///   takes any number that has them all.
  public func channels(inRecordingOf count: Int) -> [Int]? {
    if count == microphones.count { return Array(microphones.indices) }
    let isProduct =
      hardware.map { $0.channels == count }
      ?? (microphones.contains { $0.channel != nil } && count > microphones.count)
    return isProduct && captureChannels.allSatisfy { $0 <= count } ? captureChannels.map { $0 - 1 } : nil
  }

  /// Why a recording of `count` channels is not of this device, and what to do.
  public func complaint(aboutRecordingOf count: Int) -> String {
    let channels = hardware?.channels ?? microphones.compactMap(\.channel).max() ?? microphones.count
    let also = channels > microphones.count ? ", or the \(channels) channels of the product" : ""
    return
      "has \(count) channels, but \(name) has \(microphones.count) microphones; give a file with one channel "
      + "per microphone\(also)"
  }
}
