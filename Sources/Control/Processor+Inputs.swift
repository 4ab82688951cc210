import Acoustics
import Foundation
import JackClient
import Presets

/// The inputs that can be chosen.
extension Processor {
  /// The preset's device, what its file describes beside it, and each of the graph's physical capture ports that
  /// none of them claims, as a line input.
  func inputs(of setting: Setting) -> [Device] {
    let described = [setting.home] + setting.home.inputs
    let claimed = Set(described.flatMap(\.capturePorts))
    return described
      + (client?.capturePorts ?? []).filter { !claimed.contains($0) }.map(Device.init(linePort:))
  }

  /// The input of that uid, in any case.
  func input(_ uid: String, of setting: Setting) throws(UnknownWord) -> Device {
    let inputs = inputs(of: setting)
    guard let input = inputs.first(where: { $0.uid.lowercased() == uid.lowercased() }) else {
      throw UnknownWord(kind: "input", word: uid, choices: inputs.map(\.uid))
    }
    return input
  }
}

extension Device {
  /// A physical capture port of the graph: one microphone, nothing to choose.
  init(linePort: String) {
    self.init(
      name: linePort, title: linePort, body: .free, microphones: [Microphone(name: "line", position: .zero)],
      dataSources: [.only], portType: .lineIn, capturePorts: [linePort])
  }
}
