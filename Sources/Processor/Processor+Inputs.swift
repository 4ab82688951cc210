import Acoustics
import JackClient
import Messages
import Presets
import Settings
import Text

/// The inputs that a client can choose.
extension Processor {
  /// The preset's device, the other inputs in its device file, and each physical capture port that none of them uses,
  /// as a line input.
  func inputs(of setting: Setting) -> [Device] {
    let described = [setting.home] + setting.home.inputs
    let claimed = Set(described.flatMap(\.capturePorts))
    return described
      + (client?.capturePorts ?? []).filter { !claimed.contains($0) }.map(Device.init(linePort:))
  }

  /// The input with that UID; case is ignored.
  func input(_ uid: String, of setting: Setting) throws(UnknownWord) -> Device {
    let inputs = inputs(of: setting)
    guard let input = inputs.first(where: { $0.uid.lowercased() == uid.lowercased() }) else {
      throw UnknownWord(kind: "input", word: uid, choices: inputs.map(\.uid))
    }
    return input
  }
}

extension Device {
  /// A physical capture port as a device with one microphone and no choice of data source.
  init(linePort: String) {
    let name = linePort.printable
    // One microphone in the free field breaks no rule.
    try! self.init(
      name: name, title: name, body: .free, microphones: [Microphone(name: "line", position: .zero)],
      dataSources: [.only], portType: .lineIn, capturePorts: [linePort])
  }
}
