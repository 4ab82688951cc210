import Acoustics
import FilterBanks
import FilterDesign
import FoundationEssentials
import Glibc
import Plugin
import Presets

/// The plug-in of a preset for LV2 hosts: a folder with descriptions, filters at one or more sample rates, and the library
/// that plays them. It offers the cases of the preset's device. The preset says what plays at first; its feeds are further
/// outputs, which do not change.
public struct LV2Bundle: Sendable {
  let preset: Preset
  let device: Device
  /// By sample rate.
  private let files: [Int: PluginFilters]
  /// Presets that hosts offer by their titles, and what each sets the controls to.
  let presets: [(preset: Preset, setting: PluginSetting)]

  // What the controls offer, in the order of their values.
  let dataSources: [String]
  let patterns: [PolarPattern]
  let orientations: [InputOrientation]
  let initial: PluginSetting

  /// - Parameters:
  ///   - banks: of `device`, one for each sample rate, with the cases of the preset's feeds.
  ///   - presets: of this device. Those that the controls cannot express are left out.
  /// - Throws: `Unsupported` if no case is offered, or the filters of a feed are missing.
  public init(_ preset: Preset, of device: Device, banks: [FilterBank], presets: [Preset]) throws(Unsupported)
  {
    func isOffered(_ filterCase: FilterCase) -> Bool {
      filterCase.look == nil && filterCase.polarPattern.outputs <= 2
    }
    let offered = banks.flatMap { $0.cases.map(\.filterCase).filter(isOffered) }
    guard !offered.isEmpty else {
      throw Unsupported("no case of \(device.name) is usable; to see why, run: pinna design \(device.name)")
    }
    self.preset = preset
    self.device = device
    let dataSources = device.dataSources.map(\.name).filter { name in
      offered.contains { $0.dataSource == name }
    }
    let patterns = PolarPattern.allCases.filter { pattern in offered.contains { $0.polarPattern == pattern } }
    let held = InputOrientation.allCases.filter { held in offered.contains { $0.inputOrientation == held } }
    let orientations = held.isEmpty ? [.portrait] : held
    // Nil if the controls cannot express it.
    func setting(_ preset: Preset) -> PluginSetting? {
      let selection = preset.selection
      guard let source = dataSources.firstIndex(of: selection.dataSource),
        let pattern = patterns.firstIndex(of: selection.polarPattern), selection.effectiveLook == nil,
        selection.pose == .none, selection.follows.isEmpty
      else { return nil }
      let orientation = orientations.firstIndex(of: selection.inputOrientation)
      guard orientation != nil || !selection.polarPattern.isOriented else { return nil }
      var setting = PluginSetting()
      (setting.dataSource, setting.pattern, setting.orientation) = (source, pattern, orientation ?? 0)
      (setting.gain, setting.highPass) = (preset.gain.value, preset.highPass.frequency?.value ?? 0)
      return setting
    }
    (self.dataSources, self.patterns, self.orientations) = (dataSources, patterns, orientations)
    self.presets = presets.compactMap { preset in setting(preset).map { (preset, $0) } }
    var first = setting(preset) ?? setting(Preset(of: device)) ?? PluginSetting()
    (first.gain, first.highPass) = (preset.gain.value, preset.highPass.frequency?.value ?? 0)
    var files: [Int: PluginFilters] = [:]
    for bank in banks {
      let cases = bank.cases.filter { isOffered($0.filterCase) }.map { coefficients in
        let filterCase = coefficients.filterCase
        return PluginFilters.Case(
          dataSource: dataSources.firstIndex(of: filterCase.dataSource)!,
          pattern: patterns.firstIndex(of: filterCase.polarPattern)!,
          orientation: filterCase.inputOrientation.map { orientations.firstIndex(of: $0)! },
          coefficients: coefficients.filters)
      }
      var feeds: [PluginFilters.Feed] = []
      for feed in preset.feeds {
        guard let found = bank.cases.first(where: { $0.filterCase == feed.selection.filterCase }) else {
          throw Unsupported("the feed \(feed.name) is not possible at \(bank.sampleRate) Hz")
        }
        feeds.append(
          PluginFilters.Feed(
            gain: feed.amplitude, highPass: feed.highPass.frequency?.value ?? 0, coefficients: found.filters))
      }
      guard let wanted = cases.first(where: { $0.matches(first) }) ?? cases.first else {
        throw Unsupported("no case of \(device.name) is usable at \(bank.sampleRate) Hz; leave out that rate")
      }
      (first.dataSource, first.pattern) = (wanted.dataSource, wanted.pattern)
      first.orientation = wanted.orientation ?? first.orientation
      files[bank.sampleRate] = PluginFilters(
        sampleRate: bank.sampleRate, delayFrames: bank.delayFrames, microphones: bank.microphones.count,
        taps: bank.tapCount, dataSources: dataSources.count, patterns: patterns.count,
        orientations: orientations.count, initial: first, cases: cases, feeds: feeds)
    }
    (self.files, initial) = (files, first)
  }

  /// In a folder of LV2 bundles.
  public static func folderName(of preset: Preset) -> String { "pinna-\(preset.name).lv2" }

  /// The file that describes the others, which is written last.
  public static let lastFile = "manifest.ttl"
  static let libraryFile = "pinna.so"

  /// Whether this preset's own selection is beyond the controls: a look, a pose, B-format.
  public var startsWithAnotherCase: Bool { !presets.contains { $0.preset.name == preset.name } }

  public var uri: String { "urn:pinna:lv2:\(preset.name)" }

  /// Writes the files of the bundle into an empty folder.
  /// - Parameter library: the path of the plug-in's library. It is linked where the disk can, or else copied.
  public func write(folder: String, library: String) throws {
    for (rate, filters) in files {
      try Data(filters.bytes).write(
        to: URL(fileURLWithPath: "\(folder)/\(PluginFilters.fileName(sampleRate: rate))"))
    }
    for (name, text) in [("uri", uri + "\n"), ("plugin.ttl", pluginTurtle), (Self.lastFile, manifestTurtle)] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    let target = "\(folder)/\(Self.libraryFile)"
    if link(library, target) != 0 { try FileManager.default.copyItem(atPath: library, toPath: target) }
  }
}

extension FilterCoefficients {
  /// Shape: `[output][microphone][tap]`; one output for a mono pattern.
  fileprivate var filters: [[[Float]]] { Array(taps.filters.prefix(filterCase.polarPattern.outputs)) }
}
