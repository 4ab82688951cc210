import FoundationEssentials
import Glibc

/// Where PipeWire is, and what to say when it is there and a JACK server is not.
///
/// Thread: any.
public enum PipeWire {
  /// The socket of the user's daemon: `pipewire-0` in the runtime folder, unless the environment names another.
  public static func socket(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
    let name = environment["PIPEWIRE_REMOTE"] ?? "pipewire-0"
    if name.hasPrefix("/") { return name }
    let folder =
      environment["PIPEWIRE_RUNTIME_DIR"] ?? environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())"
    return folder + "/" + name
  }

  /// What to do where no JACK server answers, on a system with PipeWire; nil on others.
  static var hint: String? {
    if JackLibrary.isPipeWire {
      return "PipeWire is not running; start it, for example: systemctl --user start pipewire"
    }
    guard access(socket(), F_OK) == 0 else { return nil }
    return "no JACK server is running, but PipeWire is; start with: pw-jack pinna run (or install PipeWire's "
      + "ld.so configuration for JACK clients)"
  }
}
