import Acoustics
import Foundation
import Messages
import Monitor
import Settings
import TestSupport

/// A model that has heard from a Pinna.
struct Situation {
  var model = MonitorModel(name: "pinna")
  let now = ContinuousClock.now

  /// - Parameters:
  ///   - device: nil for one without a picture.
  ///   - changes: of a stopped Pinna's status, by key.
  init(
    device: Device? = TestDevices.phone5(), microphones: [String]? = nil, _ changes: [String: Any] = [:]
  ) throws {
    let names = microphones ?? device?.microphones.map(\.name) ?? []
    try hear(names, changes)
    if let device { model.take(.picture(Picture(device), device: "phone5"), at: now) }
    model.take(.presets(["phone5", "ring7", "uma8"]), at: now)
    model.take(.inputs(try Self.decode(Self.inputs)), at: now)
  }

  /// Takes up another status.
  mutating func hear(_ names: [String], _ changes: [String: Any] = [:]) throws {
    var status = try JSONSerialization.jsonObject(with: Data(AnswerSamples.mono.utf8)) as! [String: Any]
    let levels = names.map { ["name": $0, "rmsDB": -30.0, "peakDB": -18.0] as [String: Any] }
    let outputs = ["out_left", "out_right"].map {
      ["name": $0, "rmsDB": -24.0, "peakDB": -12.5] as [String: Any]
    }
    status.merge(
      [
        "device": "phone5", "preset": "phone5", "dataSource": "Back", "polarPattern": "stereo",
        "layout": ["left": "left", "right": "right"], "clippedSamples": 0, "microphones": names.count,
        "levels": ["microphones": levels, "outputs": outputs, "correlation": 0.5],
        "input": ["name": "Phone with five microphones", "portType": "builtInMic", "uid": "phone5"],
      ] as [String: Any]
    ) { $1 }
    status.merge(changes) { $1 }
    let json = String(decoding: try JSONSerialization.data(withJSONObject: status), as: UTF8.self)
    model.take(.status(try Self.decode(json)), at: now)
  }

  /// Feeds as a status has them: with their names and patterns, and the silence of their outputs.
  static func feeds(_ feeds: [(name: String, pattern: PolarPattern)]) -> [[String: Any]] {
    feeds.map { name, pattern in
      let ports = FeedSetting(
        name: name,
        Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: .landscapeLeft)
      ).portNames
      return [
        "name": name, "dataSource": "Front", "polarPattern": pattern.rawValue,
        "inputOrientation": "landscapeLeft", "gainDB": -6.0, "muted": true, "isHeard": true,
        "outputs": ports.map { ["name": $0, "rmsDB": -150.0, "peakDB": -150.0] as [String: Any] },
      ]
    }
  }

  mutating func hearLevels(_ json: String) throws {
    model.take(.levels(try Self.decode(json)), at: now)
  }

  static func decode<Value: Decodable>(_ json: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(json.utf8))
  }

  /// The data sources of phone5.
  private static let inputs = """
    {"inputs":[{"active":true,"name":"Phone with five microphones","portType":"builtInMic","uid":"phone5",
    "dataSources":[\(source("Bottom", ["omnidirectional"])),
    \(source("Front", ["omnidirectional", "cardioid", "stereo"])),
    \(source("Back", ["omnidirectional", "cardioid", "stereo"]))]}]}
    """

  private static func source(_ name: String, _ patterns: [String]) -> String {
    """
    {"id":1,"name":"\(name)","notOffered":[],"orientation":"back","selected":\(name == "Back"),
    "stereoOrientations":["portrait"],"supportedPolarPatterns":\(patterns),"weak":[]}
    """
  }

  func grid(_ width: Int = 80, _ height: Int = 24, isASCII: Bool = false, later: Duration = .zero) -> Grid {
    MonitorView.grid(model, width: width, height: height, at: now + later, isASCII: isASCII)
  }

  /// Presses keys that are characters.
  @discardableResult
  mutating func press(_ keys: String, later: Duration = .zero) -> [Command] {
    keys.flatMap { model.press(.character($0), at: now + later) }
  }
}

extension Grid {
  /// The row and column at which `text` begins; nil if it is nowhere.
  func find(_ text: String) -> (row: Int, column: Int)? {
    for row in 0..<height {
      let line = self.text(row)
      if let range = line.firstRange(of: text) { return (row, String(line[..<range.lowerBound]).cells) }
    }
    return nil
  }

  /// Where the picture of the device has "L" or "R"; nil if it has none.
  func side(_ letter: Unicode.Scalar) -> (row: Int, column: Int)? {
    cells.firstIndex { $0.scalar == letter && $0.style == .selected }.map { ($0 / width, $0 % width) }
  }

  func contains(_ text: String) -> Bool { find(text) != nil }
}

extension Command {
  /// "/pinna/set/gain -3".
  var text: String { ([message.path] + message.words).joined(separator: " ") }
}
