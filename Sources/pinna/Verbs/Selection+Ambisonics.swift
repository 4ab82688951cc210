import Acoustics

extension Selection {
  /// The same with B-format. A data source without stereo is taken as mono patterns are described: in portrait, or in
  /// landscapeRight if it looks along the device's y axis.
  func with(_ ambisonics: PolarPattern, on device: Device) -> Selection {
    var selection = self
    selection.polarPattern = ambisonics
    if !polarPattern.isOriented, let source = try? device.dataSource(named: dataSource) {
      selection.inputOrientation = source.stereoOrientations.first ?? .ofMono(along: source.forward)
    }
    return selection
  }
}
