import Acoustics
import Detection
import Messages
import Presets
import Settings
import Text

/// Options that say which device a verb is about, and what differs from its file.
extension Verb {
  static let deviceOption = Option(
    "--device", "DEVICE", "a device without a preset: its name, its file, or auto for the only one plugged in"
  )
  static let hrtfOption = Option(
    "--hrtf", "FILE", "SOFA file with the head's HRTFs for stereo (default: the device's, or KEMAR)")
  static let orderOption = Option("--order", "N", "order of B-format, from 1 to 4 (default: 1)")
  static let withoutOption = Option(
    "--without", "MICROPHONE", "as if this microphone did not work; may be given several times")
}

extension Arguments {
  /// The preset of --preset with its device, or the device of --device with what is selected on it at first.
  /// - Throws: a usage failure if both are given.
  func presetAndDevice(in library: PresetLibrary) throws -> (preset: Preset, device: Device) {
    guard let given = self["--device"] else {
      let preset = try library.preset(named: self["--preset"] ?? "phone5")
      return (preset, try library.device(named: preset.device))
    }
    guard self["--preset"] == nil else {
      throw Failure(
        .usage, "--preset and --device exclude each other, because a preset names its device; give one")
    }
    let device =
      given == "auto"
      ? try Verb.detectedCards(in: library).onlyDevice() : try Verb.device(given, in: library)
    return (preset(of: device, in: library), device)
  }

  /// What is selected on a device without a preset. For B-format it is what the preset of the device's name selects, or
  /// else the first data source that looks horizontally while the device is held upright: a phone's bottom does not.
  func preset(of device: Device, in library: PresetLibrary) -> Preset {
    guard isAmbisonic, self["--data-source"] == nil else { return Preset(of: device) }
    let named = (try? library.preset(named: device.name)).flatMap {
      $0.device == device.name ? try? device.dataSource(named: $0.main.selection.dataSource) : nil
    }
    let level = device.dataSources.first {
      HeadFrame(forward: $0.forward, orientation: .portrait) != nil
    }
    let front = (named ?? level).flatMap { try? device.with(dataSources: [$0]) }
    return Preset(of: front ?? device)
  }

  /// `device`, with the HRTF file of --hrtf if given.
  func withHRTF(_ device: Device) throws -> Device {
    guard let path = self["--hrtf"] else { return device }
    try InputPath.check(path, "give a SOFA file with HRTFs")
    return device.with(hrtf: path)
  }

  /// The word of --format for B-format.
  static let ambix = "ambix"
  private var isAmbisonic: Bool { options["--format"]?.contains(Self.ambix) ?? false }

  /// The ending of the files that --format asks for, in the words of `record start`: "wav" without one of them.
  /// - Parameter isGiven: whether there is one.
  func soundEnding(_ isGiven: inout Bool) throws(Failure) -> String {
    var ending = "wav"
    for word in options["--format"] ?? [] where word != Self.ambix {
      guard ["float", "flac", "opus"].contains(word) else {
        throw Failure(
          .usage,
          "--format \(word.printable(limit: 40)) is not usable; give \(Self.ambix), float, flac or opus, or leave it out"
        )
      }
      (ending, isGiven) = (word == "float" ? "wav" : word, true)
    }
    return ending
  }

  func soundEnding() throws(Failure) -> String {
    var isGiven = false
    return try soundEnding(&isGiven)
  }

  /// The pattern of --format ambix in the order of --order; nil for another format or none.
  /// - Throws: a usage failure for --order without B-format.
  func ambisonics() throws(Failure) -> PolarPattern? {
    let order = try integer("--order", in: PolarPattern.ambisonicsOrders)
    guard isAmbisonic else {
      guard order == nil else { throw Failure(.usage, "--order is of B-format; give --format ambix with it") }
      return nil
    }
    return PolarPattern.ambisonics(order: order ?? 1)
  }

  /// The same for a verb whose --format has no other word.
  func onlyAmbisonics() throws(Failure) -> PolarPattern? {
    let pattern = try ambisonics()
    guard pattern == nil, let format = self["--format"] else { return pattern }
    throw Failure(
      .usage, "--format \(format.printable(limit: 40)) is not usable; give \(Self.ambix), or leave it out")
  }

  /// `device` without the microphones of --without.
  func withoutMicrophones(_ device: Device) throws -> Device {
    let names = options["--without"] ?? []
    guard !names.isEmpty else { return device }
    let known = device.microphones.map(\.name)
    for name in names where !known.contains(name) {
      throw Failure(
        .usage, "\(device.name) has no microphone \(name.quoted); it has \(known.joined(separator: ", "))")
    }
    let rest = device.without(microphones: Set(names))
    guard !rest.dataSources.isEmpty else {
      throw Failure(
        .unsupported,
        "without \(names.joined(separator: ", ")), no data source of \(device.name) is left; name fewer")
    }
    return rest
  }
}

extension Preset {
  /// Says that a pose does not count, where filters are those without one.
  func complainOfPose() {
    let posed = ([main] + others).map { ($0.name, $0.selection) }
    let names = posed.filter { $0.1.pose != .none || !$0.1.follows.isEmpty }.map(\.0)
    guard !names.isEmpty else { return }
    Tool.complain(
      "the pose of \(names.joined(separator: ", ")) does not count here: these are the filters without one"
    )
  }
}
