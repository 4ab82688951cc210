/// The kind of an input or output port.
public enum PortType: String, NamedWord, Codable, CustomStringConvertible {
  case builtInMic, headsetMic, usbAudio, lineIn, bluetoothHFP
  case builtInSpeaker, headphones, lineOut

  public static let kind = "port type"

  /// The types that an input can have.
  public static let inputs: [PortType] = [.builtInMic, .headsetMic, .usbAudio, .lineIn, .bluetoothHFP]

  /// The spelling in the seeds' console reports.
  public var title: String {
    switch self {
    case .builtInMic: "MicrophoneBuiltIn"
    case .headsetMic: "MicrophoneWired"
    case .usbAudio: "USBAudio"
    case .lineIn: "LineIn"
    case .bluetoothHFP: "BluetoothHFP"
    case .builtInSpeaker: "Speaker"
    case .headphones: "Headphones"
    case .lineOut: "LineOut"
    }
  }

  public var description: String { title }

  /// Whether the port belongs to a headset, so that selecting its microphone also selects its earpieces.
  public var isHeadset: Bool { [.headsetMic, .bluetoothHFP, .headphones].contains(self) }
}
