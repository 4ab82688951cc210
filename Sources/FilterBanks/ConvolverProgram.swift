import Acoustics

/// Another program that can play exported filters, and whose configuration is exported with them.
public enum ConvolverProgram: String, CaseIterable, Sendable {
  case jconvolver, camilladsp, pipewire

  public var title: String {
    switch self {
    case .jconvolver: "jconvolver"
    case .camilladsp: "CamillaDSP"
    case .pipewire: "PipeWire's filter-chain"
    }
  }

  /// The extension of its configuration files.
  var fileExtension: String { self == .camilladsp ? "yml" : "conf" }

  /// What to type before a configuration's path to run it.
  public var command: String { self == .pipewire ? "pipewire -c" : rawValue }

  /// Whether it has a high-pass like Pinna's. Where not, the high-pass is in the filters.
  var hasHighPass: Bool { self == .camilladsp }
}
