import CJack
import Threads

/// The libjack that this process has loaded: JACK's own, or PipeWire's in its place.
public enum JackLibrary {
  /// "1.9.21", "3.0.0.0 (using PipeWire 0.3.65)".
  public static var version: String {
    // Weak in the header: old libraries lack it.
    jack_get_version_string().map { String(cString: $0) } ?? "unknown"
  }

  public static var isPipeWire: Bool { pinna_jack_is_pipewire() != 0 }

  /// The command of one of JACK's tools, such as "jack_lsp", as a user types it for this library's server.
  public static func command(_ words: String) -> String { (isPipeWire ? "pw-jack " : "") + words }

  /// The path of the library's file; nil if unknown.
  public static var path: String? {
    (SmallFile.text("/proc/self/maps") ?? "").split(separator: "\n")
      .first { $0.contains("/libjack.so") }?.split(separator: " ").last.map(String.init)
  }
}
