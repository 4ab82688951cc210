import Acoustics

extension FilterCase {
  /// "Back, stereo, portrait"
  var name: String {
    [dataSource, polarPattern.rawValue, inputOrientation?.rawValue].compactMap(\.self).joined(separator: ", ")
  }
}
