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

  /// Makes every client of this process an application of the desktop: its nodes carry the entry's name and icon, and say
  /// what they are. Does nothing with JACK's own libjack, or where the user has set PIPEWIRE_PROPS. Call it before any
  /// other thread is started.
  ///
  /// A node's description stays the client's name: libjack names the ports after it, for every other client.
  /// - Parameters:
  ///   - application: ID of the desktop entry, which is also its icon's name.
  ///   - media: what passes through the nodes.
  public static func describeNodes(application: String, media: String) {
    guard JackLibrary.isPipeWire else { return }
    let properties = [
      ("application.id", application), ("application.icon-name", application),
      ("media.icon-name", application),
      ("media.name", media),
    ]
    setenv("PIPEWIRE_PROPS", "{ \(properties.map { "\($0) = \"\($1)\"" }.joined(separator: " ")) }", 0)
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
