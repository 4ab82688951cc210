/// What kind of port an input or an output is.
public enum PortType: String, NamedWord, Codable, CustomStringConvertible {
  case builtInMic, headsetMic, usbAudio, lineIn, bluetoothHFP
  case builtInSpeaker, headphones, lineOut

  public static let kind = "port type"

  /// Those that microphones can have.
  public static let inputs: [PortType] = [.builtInMic, .headsetMic, .usbAudio, .lineIn, .bluetoothHFP]

  /// As the seeds' console prints it.
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

  /// Worn on the head: its microphone and its earpieces go together.
  public var isHeadset: Bool { [.headsetMic, .bluetoothHFP, .headphones].contains(self) }
}
