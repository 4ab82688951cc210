import FoundationEssentials
import Glibc

/// A program that plays a sound file from the command line.
enum SoundPlayer {
  /// The first of these that is in PATH: of ALSA, PipeWire, SoX.
  static var installed: String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return ["aplay", "pw-play", "play"].first { name in
      folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }
  }
}
