/// Why a microphone counts as missing.
package enum MicrophoneFault: String, Codable, Sendable {
  /// Nothing is connected to its port, while others are connected.
  case unconnected
  /// It sends exact zeros, while others send sound.
  case silent
  /// It sends invalid samples, and the engine mutes it.
  case invalid
  /// It is more than 20 dB softer than the median microphone.
  case faint

  /// As a sentence about the microphone.
  package var sentence: String {
    switch self {
    case .unconnected: "nothing is connected to it"
    case .silent: "it sends only zeros"
    case .invalid: "it sends invalid samples (NaN, infinity, or above +60 dBFS)"
    case .faint: "it is more than 20 dB softer than the others"
    }
  }
}
