import Acoustics
import FilterBanks
import FilterDesign
import FoundationEssentials
import Messages
import PluginBundles
import Presets
import Settings
import Text

/// `pinna export --to lv2`: bundles for LV2 hosts.
struct ExportPlugin {
  private let folder: String
  private let library: String
  private let presets: PresetLibrary
  private let arguments: Arguments

  /// Where hosts run mostly; `--sample-rate` names others.
  private static let rates = [44100, 48000, 88200, 96000]
  /// For all devices at once, whose filters ship for these.
  private static let ratesOfAll = [44100, 48000]

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    folder = arguments.operands[0]
    presets = PresetLibrary.standard
    library = try Self.libraryPath()
    guard !arguments.has("--all") || ["--preset", "--device", "--hrtf"].allSatisfy({ !arguments.has($0) })
    else {
      throw Failure(.usage, "--all is for every device that ships; leave out --preset, --device and --hrtf")
    }
  }

  /// Below lib where Pinna is installed; beside the program, or where make leaves it, where it was built.
  private static func libraryPath() throws(Failure) -> String {
    let program = PresetFolders.executablePath() ?? ""
    let own = program.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
      separator: "/")
    let places = ["../lib/pinna/pinna-lv2.so", "libpinna-lv2.so", "../../../pinna-lv2.so"].map {
      "\(own)/\($0)"
    }
    guard let found = places.first(where: FileManager.default.fileExists) else {
      throw Failure(
        .failed,
        "the plug-in's library is at none of: \(places.joined(separator: ", ")); build it with: make plugin")
    }
    return found
  }

  func run() throws {
    let given = try arguments.exportRates()
    guard arguments.has("--all") else {
      let (preset, plain) = try arguments.presetAndDevice(in: presets)
      let written = try write(preset, try arguments.withHRTF(plain), given.isEmpty ? Self.rates : given)
      return arguments.print(json: written.json, text: written.text)
    }
    // The last folder is that of what ships.
    let shipped = PresetLibrary(folders: Array(presets.folders.suffix(1)))
    let written = try shipped.deviceNames().map { name in
      let device = try presets.device(named: name)
      let named = try? presets.preset(named: name)
      let preset = named?.device == name ? named! : Preset(of: device)
      return try write(preset, device, given.isEmpty ? Self.ratesOfAll : given)
    }
    arguments.print(
      json: ["plugins": written.map(\.json)], text: written.map(\.text).joined(separator: "\n"))
  }

  private func write(_ preset: Preset, _ device: Device, _ rates: [Int]) throws -> (
    json: JSONObject, text: String
  ) {
    preset.complainOfPose()
    let target = try OutputFolder(
      "\(folder)/\(LV2Bundle.folderName(of: preset))", of: "plug-in", replacing: arguments.has("--force"))
    let banks = try rates.map { rate in
      let bank = try FilterBank.ready(
        device: device, sampleRate: rate, progress: WorkProgress.designing("\(device.name) at \(rate) Hz"))
      return try FeedFilters(of: preset, on: device, sampleRate: rate).onDemand.reduce(bank) {
        try $0.adding($1)
      }
    }
    let others = presets.presetNames().compactMap { try? presets.preset(named: $0) }.filter {
      $0.device == device.name && $0.name != preset.name
    }
    let bundle = try LV2Bundle(preset, of: device, banks: banks, presets: [preset] + others)
    if bundle.startsWithAnotherCase {
      Tool.complain(
        "what \(preset.name) selects has no control in a plug-in, which begins with the device's first case; a look or B-format "
          + "can be a feed of the preset")
    }
    try target.write(last: LV2Bundle.lastFile) { try bundle.write(folder: $0, library: library) }
    bundle.removeLeftovers(folder: target.path)
    let list = rates.map(\.description).joined(separator: ", ")
    return (
      ["folder": target.path, "uri": bundle.uri, "device": device.name, "sampleRates": rates],
      "\(target.path): \(bundle.uri), \("microphone".counted(device.microphones.count)) of \(device.name) at \(list) Hz"
    )
  }
}
