import Acoustics
import AudioFiles
import Session

extension Scene {
  static let talkerLimit = 64
  /// Seconds that all voices together may last, silence between them not counted.
  static let voiceLimit = 600.0

  /// Reads a scene file.
  ///
  /// ```yaml
  /// title: Two voices
  /// device: phone5
  /// facing: {dataSource: Back, inputOrientation: portrait}   # who looks; needed for azimuth and from
  /// talkers:
  ///   - {voice: hello.wav, from: left}                       # or azimuth: 90, or direction: [-1, 0, 0]
  ///   - {voice: noise, azimuth: -30, elevation: 10, start: 1.2, gain: -6, seconds: 2}
  /// ```
  /// Azimuths and elevations are in degrees, positive to the left and upwards; paths are relative to the file.
  /// - Throws: `DescriptionError`.
  public init(file path: String, library: PresetLibrary) throws {
    try self.init(reader: YAMLReader(path: path), folder: Self.folder(of: path), library: library)
  }

  /// Reads a scene from `text`, which messages call `file`; paths are relative to `folder`.
  public init(text: String, file: String, folder: String, library: PresetLibrary) throws {
    try self.init(reader: YAMLReader(text: text, file: file), folder: folder, library: library)
  }

  private init(reader: YAMLReader, folder: String, library: PresetLibrary) throws(DescriptionError) {
    let fields = try reader.fields(["title", "device", "facing", "talkers"])
    let title = try fields.required("title", example: "My scene").string()
    let device = try fields.required("device", example: "phone5").device { try library.device(named: $0) }
    let frame = try fields.optional("facing")?.headFrame(of: device)
    let listed = try fields.required("talkers", example: "[{voice: hello.wav, direction: [1, 0, 0]}]")
    let elements = try listed.list()
    guard (1...Self.talkerLimit).contains(elements.count) else {
      throw listed.failure("are \(elements.count); write between 1 and \(Self.talkerLimit)")
    }
    var talkers: [Talker] = []
    for element in elements {
      talkers.append(try element.talker(seed: UInt64(talkers.count + 1), facing: frame, folder: folder))
      guard talkers.reduce(0, { $0 + $1.voice.duration }) <= Self.voiceLimit else {
        throw element.failure("makes the voices longer than \(Int(Self.voiceLimit)) s together; shorten them")
      }
    }
    self.init(title: title, device: device, talkers: talkers)
    guard duration <= Self.longest else {
      throw listed.failure("take \(Int(duration)) s together; keep the scene to \(Int(Self.longest)) s")
    }
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }
}

/// The directions that words name, as a listener sees them.
enum Bearing: String, NamedWord {
  case front, left, right, back, above, below

  static let kind = "direction"

  func direction(in frame: HeadFrame) -> Direction {
    switch self {
    case .front: frame.forward
    case .left: frame.left
    case .right: frame.right
    case .back: frame.forward.opposite
    case .above: frame.up
    case .below: frame.up.opposite
    }
  }
}

extension YAMLReader {
  /// `{dataSource: NAME, inputOrientation: WORD}`
  fileprivate func headFrame(of device: Device) throws(DescriptionError) -> HeadFrame {
    let fields = try fields(["dataSource", "inputOrientation"])
    let source = try fields.required("dataSource", example: device.dataSources[0].name).dataSource(of: device)
    let orientation = try fields.required("inputOrientation", example: "portrait")
    let held = try orientation.word(InputOrientation.self)
    guard let frame = HeadFrame(forward: source.forward, orientation: held) else {
      throw orientation.failure(
        "is \(held.rawValue), whose up is parallel to where \(source.name) looks, so that left and right do not "
          + "exist; choose another")
    }
    return frame
  }

  fileprivate func talker(seed: UInt64, facing frame: HeadFrame?, folder: String) throws(DescriptionError)
    -> Talker
  {
    let fields = try fields([
      "voice", "seconds", "direction", "azimuth", "elevation", "from", "start", "gain",
    ])
    let voice = try fields.required("voice", example: "hello.wav").voice(
      seconds: fields.optional("seconds"), seed: seed, folder: folder)
    return Talker(
      voice: voice, direction: try talkerDirection(fields, facing: frame),
      start: try fields.optional("start")?.number(in: 0...Scene.longest, unit: "s") ?? 0,
      gain: Decibels(try fields.optional("gain")?.number(in: Preset.gainRange, unit: "dB") ?? 0))
  }

  /// `noise`, or the path of an audio file.
  private func voice(seconds: YAMLReader?, seed: UInt64, folder: String) throws(DescriptionError)
    -> BandlimitedSignal
  {
    let name = try string(limit: 4096)
    if name.lowercased() == "noise" {
      return Voice.noise(seconds: try seconds?.number(in: 0.01...Scene.longest, unit: "s") ?? 2, seed: seed)
    }
    if let seconds { throw seconds.failure("is only for noise; remove it, a file plays to its end") }
    do {
      return try Voice.read(path: name.hasPrefix("/") ? name : folder + name)
    } catch {
      throw failure("cannot be used: \(error); give the path of a sound file, or noise")
    }
  }

  /// Exactly one of `direction`, `azimuth` (with `elevation`) and `from`.
  private func talkerDirection(_ fields: YAMLFields, facing frame: HeadFrame?) throws(DescriptionError)
    -> Direction
  {
    let ways = ["direction", "azimuth", "from"].compactMap(fields.optional)
    guard let way = ways.first, ways.count == 1 else {
      throw failure(
        "has \(ways.isEmpty ? "none" : "several") of direction, azimuth and from; write one of them")
    }
    if let elevation = fields.optional("elevation"), fields.optional("azimuth") == nil {
      throw elevation.failure("goes with azimuth; remove it, or write azimuth too")
    }
    if fields.optional("direction") != nil { return try way.direction() }
    guard let frame else {
      throw way.failure(
        "needs a listener; add \"facing: {dataSource: NAME, inputOrientation: portrait}\" to the scene")
    }
    if fields.optional("from") != nil { return try way.word(Bearing.self).direction(in: frame) }
    return frame.direction(
      azimuth: .degrees(try way.number(in: -360...360, unit: "degrees")),
      elevation: .degrees(try fields.optional("elevation")?.number(in: -90...90, unit: "degrees") ?? 0))
  }
}
