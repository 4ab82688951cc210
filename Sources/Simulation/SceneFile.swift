import Acoustics
import AudioFiles
import Presets
import Text

extension Scene {
  static let talkerLimit = 64
  /// Maximum total duration of all voices, in seconds. Silence between voices does not count.
  static let voiceLimit = 600.0

  /// Reads a scene file.
  ///
  /// ```yaml
  /// title: Two voices
  /// device: phone5                                           # or its file, ./array.yaml
  /// facing: {dataSource: Back, inputOrientation: portrait}   # the listener; azimuth and from need it
  /// talkers:
  ///   - {voice: hello.wav, from: left}                       # or azimuth: 90, or direction: [-1, 0, 0]
  ///   - {voice: noise, azimuth: -30, elevation: 10, start: 1.2, gain: -6, seconds: 2}
  ///   - voice: hello.wav                                     # walks from the left to the right, 2 m away
  ///     path: [{at: 0, azimuth: 90, distance: 2}, {at: 3, azimuth: -90, distance: 2}]
  /// room:                                                    # metres along the listener's forward, left, up
  ///   size: [5, 4, 2.6]
  ///   device: [2, 2, 1.2]                                    # from the corner that is behind, right and below
  ///   absorption: 0.3                                        # of energy; or {front: 0.3, back: …, floor: …}
  ///   order: 3
  /// noise: {sensor: -80, diffuse: -50}                       # RMS level in dBFS
  /// errors:                                                  # what is wrong with the array: `ChannelError`
  ///   front: {gain: 6}
  ///   top: {carries: back}
  /// ```
  /// Azimuths and elevations are in degrees, positive to the left and upwards. Positions `[forward, left, up]` and
  /// distances are in metres. Paths of sound files are relative to the scene file's folder.
  /// - Throws: `DescriptionError` with the file, the line and the field at fault.
  public init(file path: String, library: PresetLibrary) throws {
    try self.init(reader: YAMLReader(path: path), folder: Self.folder(of: path), library: library)
  }

  /// Reads a scene from `text`. Error messages call it `file`; paths in it are relative to `folder`.
  public init(text: String, file: String, folder: String, library: PresetLibrary) throws {
    try self.init(reader: YAMLReader(text: text, file: file), folder: folder, library: library)
  }

  private init(reader: YAMLReader, folder: String, library: PresetLibrary) throws(DescriptionError) {
    let fields = try reader.fields(["title", "device", "facing", "talkers", "room", "noise", "errors"])
    let title = try fields.required("title", example: "My scene").string()
    let device = try fields.required("device", example: "phone5").device {
      try library.device($0, in: folder)
    }
    let frame = try fields.optional("facing")?.headFrame(of: device)
    let room = try fields.optional("room")?.room(facing: frame)
    let noise = try fields.optional("noise")?.noise() ?? SceneNoise()
    let errors = try fields.optional("errors")?.errors(of: device) ?? [:]
    let listed = try fields.required("talkers", example: "[{voice: hello.wav, direction: [1, 0, 0]}]")
    let elements = try listed.list()
    guard (1...Self.talkerLimit).contains(elements.count) else {
      throw listed.failure("has \(elements.count) entries; write between 1 and \(Self.talkerLimit)")
    }
    var talkers: [Talker] = []
    for element in elements {
      talkers.append(
        try element.talker(seed: UInt64(talkers.count + 1), facing: frame, room: room, folder: folder))
      guard talkers.reduce(0, { $0 + $1.voice.duration }) <= Self.voiceLimit else {
        throw element.failure(
          "brings the voices to more than \(Int(Self.voiceLimit)) s together; shorten or remove some")
      }
    }
    self.init(title: title, device: device, talkers: talkers, room: room, noise: noise, errors: errors)
    let end = talkers.map(\.end).max() ?? 0
    guard end <= Self.maximumDuration else {
      throw listed.failure("last until \(Int(end)) s; end them within \(Int(Self.maximumDuration)) s")
    }
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }
}

extension YAMLReader {
  /// Reads `{dataSource: NAME, inputOrientation: WORD}`.
  fileprivate func headFrame(of device: Device) throws(DescriptionError) -> HeadFrame {
    let fields = try fields(["dataSource", "inputOrientation"])
    let source = try fields.required("dataSource", example: device.dataSources[0].name).dataSource(of: device)
    let orientation = try fields.required("inputOrientation", example: "portrait")
    let word = try orientation.word(InputOrientation.self)
    guard let frame = HeadFrame(forward: source.forward, orientation: word) else {
      throw orientation.failure(
        "is \(word.rawValue), whose up is parallel to the forward direction of \(source.name), so left and right are "
          + "undefined; choose another orientation")
    }
    return frame
  }

  fileprivate func talker(seed: UInt64, facing frame: HeadFrame?, room: Room?, folder: String)
    throws(DescriptionError) -> Talker
  {
    let fields = try fields(["voice", "seconds", "start", "gain"] + Self.placeKeys)
    let voice = try fields.required("voice", example: "hello.wav").voice(
      seconds: fields.optional("seconds"), seed: seed, folder: folder)
    var talker = Talker(
      voice: voice.signal, path: try path(fields, facing: frame, in: room),
      start: try fields.optional("start")?.number(in: 0...Scene.maximumDuration, unit: "s") ?? 0,
      gain: Decibels(try fields.optional("gain")?.number(in: Decibels.outputGains, unit: "dB") ?? 0))
    talker.remarks = voice.remarks
    return talker
  }

  /// Reads `noise`, or the path of a sound file.
  private func voice(seconds: YAMLReader?, seed: UInt64, folder: String) throws(DescriptionError)
    -> (signal: BandlimitedSignal, remarks: [String])
  {
    let name = try string(limit: 4096)
    if name.lowercased() == "noise" {
      let length = try seconds?.number(in: 0.01...Scene.maximumDuration, unit: "s") ?? 2
      return (Voice.noise(seconds: length, seed: seed), [])
    }
    if let seconds {
      throw seconds.failure("applies to noise only; remove it, because a sound file plays to its end")
    }
    do {
      let (voice, remarks) = try Voice.read(path: name.hasPrefix("/") ? name : folder + name)
      return (voice, remarks)
    } catch {
      throw failure("cannot be used: \(error); write the path of a sound file, or noise")
    }
  }

  /// Reads `{MICROPHONE: dead, MICROPHONE: {gain: 6, …}}`.
  fileprivate func errors(of device: Device) throws(DescriptionError) -> [Int: ChannelError] {
    var errors: [Int: ChannelError] = [:]
    for (name, value) in try entries() {
      errors[try value.microphone(name, of: device)] = try value.channelError(of: device)
    }
    return errors
  }

  private func microphone(_ name: String, of device: Device) throws(DescriptionError) -> Int {
    guard let index = device.microphoneIndex(named: name) else {
      let names = device.microphones.map(\.name)
      throw failure(
        "is not a microphone of \(device.name)\(didYouMean(name, among: names)); use one of: "
          + names.joined(separator: ", "))
    }
    return index
  }

  /// Reads `dead`, or a group of errors.
  private func channelError(of device: Device) throws(DescriptionError) -> ChannelError {
    if let word = scalar {
      guard word.lowercased() == "dead" else {
        throw failure(
          "is \(word.quoted); write dead, or a group such as {gain: 6}, {polarity: inverted}, {carries: NAME}"
        )
      }
      return ChannelError(isDead: true)
    }
    let fields = try fields(["carries", "gain", "delay", "polarity", "offset", "hum", "clip"])
    return ChannelError(
      carries: try fields.optional("carries").map { (value) throws(DescriptionError) in
        try value.microphone(value.string(), of: device)
      },
      deviation: try fields.deviation(gains: ChannelError.gainRange, delays: ChannelError.delayRange),
      offset: try fields.optional("offset")?.number(in: ChannelError.offsetRange, unit: "") ?? 0,
      hum: try fields.level("hum"), clip: try fields.level("clip"))
  }

  /// Reads `{sensor: DB, diffuse: DB}`.
  fileprivate func noise() throws(DescriptionError) -> SceneNoise {
    let fields = try fields(["sensor", "diffuse"])
    return SceneNoise(sensor: try fields.level("sensor"), diffuse: try fields.level("diffuse"))
  }
}

extension YAMLFields {
  /// In dBFS.
  fileprivate func level(_ key: String) throws(DescriptionError) -> Decibels? {
    try optional(key).map { (value) throws(DescriptionError) in
      Decibels(try value.number(in: -150...0, unit: "dB"))
    }
  }
}
