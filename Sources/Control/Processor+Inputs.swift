import Acoustics
import Foundation
import JackClient
import Session

/// The inputs that can be chosen.
extension Processor {
  /// The preset's device, what its file describes beside it, and each of the graph's physical capture ports that
  /// none of them claims, as a line input.
  func inputs(of setting: Setting) -> [Device] {
    let described = [setting.home] + setting.home.inputs
    let claimed = Set(described.flatMap(\.capturePorts))
    return described
      + client.physicalCapturePorts.filter { !claimed.contains($0) }.map(Device.init(linePort:))
  }

  /// The input of that uid, in any case.
  func input(_ uid: String, of setting: Setting) throws(UnknownWord) -> Device {
    let inputs = inputs(of: setting)
    guard let input = inputs.first(where: { $0.uid.lowercased() == uid.lowercased() }) else {
      throw UnknownWord(kind: "input", word: uid, known: inputs.map(\.uid))
    }
    return input
  }

  /// Asks the server for the power of two of frames that is nearest to `seconds`; returns the period that it runs
  /// with then.
  func requestPeriod(seconds: Double) throws -> Int {
    try refuseDuringTake()
    try refuseDuringSwap()
    let exponent = log2(seconds * Double(client.sampleRate)).rounded()
    return client.requestPeriod(1 << Int(min(max(exponent, 4), 12)))
  }

  /// Nothing stands in the way of a change.
  var isFree: Bool { take == nil && swap == nil && rejoin == nil }

  /// What may change without anybody asking for it.
  struct SeenGraph: Equatable {
    var period: Int?
    var capturePorts: [String]?
  }

  /// Tells of a new period and of physical ports that came or went; after the graph changed, and now and then.
  func watchGraph() {
    let now = SeenGraph(period: client.period, capturePorts: client.physicalCapturePorts)
    if let old = seen.period, let new = now.period, old != new {
      notify(EngineEvent(.periodChanged, "the period is now \(new) frames, it was \(old)"))
    }
    if let old = seen.capturePorts, let new = now.capturePorts, old != new {
      notify(
        EngineEvent(.inputsChanged, "there are now \(new.count) physical capture ports, it was \(old.count)"))
    }
    seen = now
  }

  func tellOfChange(from old: Setting, to new: Setting) {
    if old.device != new.device {
      notify(EngineEvent(.inputChanged, "the input is now \(new.device.uid), it was \(old.device.uid)"))
    } else if old.selection != new.selection {
      let s = new.selection
      notify(
        EngineEvent(
          .selectionChanged,
          "\(s.dataSource), \(s.polarPattern.rawValue), \(s.inputOrientation.rawValue) is in force"))
    }
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
