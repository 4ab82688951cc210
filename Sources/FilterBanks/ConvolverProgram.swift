import Acoustics

/// Another program that can play exported filters, and whose configuration is exported with them.
public enum ConvolverProgram: String, CaseIterable, Sendable {
  case jconvolver, camilladsp, pipewire, wireplumber

  public var title: String {
    switch self {
    case .jconvolver: "jconvolver"
    case .camilladsp: "CamillaDSP"
    case .pipewire: "PipeWire's filter-chain"
    case .wireplumber: "WirePlumber"
    }
  }

  /// The extension of its configuration files.
  var fileExtension: String { self == .camilladsp ? "yml" : "conf" }

  /// What to type to run a configuration.
  /// - Parameter path: its absolute path, as a word of the shell.
  public func command(configuration path: String) -> String {
    switch self {
    case .jconvolver, .camilladsp: "\(rawValue) \(path)"
    case .pipewire: "pipewire -c \(path)"
    case .wireplumber:
      "install -D \(path) ~/.config/wireplumber/wireplumber.conf.d/50-pinna.conf && systemctl --user restart wireplumber"
    }
  }

  /// Whether one configuration can hold several feeds. WirePlumber makes one filter for a card.
  public var takesFeeds: Bool { self != .wireplumber }

  /// Whether a configuration can hold filters for several sample rates, of which the program takes the nearest.
  public var takesRates: Bool { self == .pipewire || self == .wireplumber }

  /// Whether it has a high-pass like Pinna's. Where not, the high-pass is in the filters.
  var hasHighPass: Bool { self == .camilladsp }
}
