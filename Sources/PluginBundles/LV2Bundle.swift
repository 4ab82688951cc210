import Acoustics
import FilterDesign
import FoundationEssentials
import Glibc
import Plugin
import Presets
import Settings

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

  let offer: PluginOffer
  let initial: PluginSetting

  /// - Parameters:
  ///   - banks: of `device`, one for each sample rate, with the cases of the preset's feeds.
  ///   - presets: of this device. Those that the controls cannot express are left out.
  /// - Throws: `Unsupported` if no case is offered, or the filters of a feed are missing.
  public init(_ preset: Preset, of device: Device, banks: [FilterBank], presets: [Preset]) throws(Unsupported)
  {
    let cases = banks.flatMap { $0.cases.map(\.filterCase).filter(\.isPluginCase) }
    guard !cases.isEmpty else {
      throw Unsupported("no case of \(device.name) is usable; to see why, run: pinna design \(device.name)")
    }
    let offer = PluginOffer(cases, of: device)
    (self.preset, self.device, self.offer) = (preset, device, offer)
    self.presets = presets.compactMap { preset in offer.setting(of: preset).map { (preset, $0) } }
    var first = offer.setting(of: preset) ?? offer.setting(of: Preset(of: device)) ?? PluginSetting()
    first.setLevel(of: preset)
    var files: [Int: PluginFilters] = [:]
    for bank in banks {
      var own = first
      let cases = offer.cases(of: bank)
      let feeds = try preset.others.map { (feed) throws(Unsupported) in
        try PluginFilters.Feed(feed, of: bank)
      }
      guard let wanted = cases.first(where: { $0.matches(first) }) ?? cases.first else {
        throw Unsupported("no case of \(device.name) is usable at \(bank.sampleRate) Hz; leave out that rate")
      }
      (own.dataSource, own.pattern) = (wanted.dataSource, wanted.pattern)
      own.orientation = wanted.orientation ?? own.orientation
      files[bank.sampleRate] = PluginFilters(
        sampleRate: bank.sampleRate, delayFrames: bank.delayFrames, microphones: bank.microphones.count,
        taps: bank.tapCount, dataSources: offer.dataSources.count, patterns: offer.patterns.count,
        orientations: offer.orientations.count, initial: own, cases: cases, feeds: feeds)
    }
    (self.files, initial) = (files, files[banks[0].sampleRate]!.initial)
  }

  /// In a folder of LV2 bundles.
  public static func folderName(of preset: Preset) -> String { "pinna-\(preset.name).lv2" }

  /// The file that describes the others, which is written last.
  public static let lastFile = "manifest.ttl"
  static let libraryFile = "pinna.so"

  /// Whether this preset's own selection is beyond the controls: a look, a pose, B-format.
  public var startsWithAnotherCase: Bool { !presets.contains { $0.preset.name == preset.name } }

  /// Feeds are in it: a host that knows a plug-in by its URI expects the same outputs.
  public var uri: String {
    let outputs = preset.others.reduce(0) { $0 + $1.portNames.count }
    return "urn:pinna:lv2:\(preset.name)" + (outputs > 0 ? ":\(outputs)" : "")
  }

  /// Removes from a bundle what an earlier one had and this one has not: filters for other rates.
  public func removeLeftovers(folder: String) {
    let own = files.keys.map(PluginFilters.fileName)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(PluginFilters.filePrefix) && !own.contains(name)
      && Int(name.dropFirst(PluginFilters.filePrefix.count)) != nil
    { unlink("\(folder)/\(name)") }
  }

  /// Writes the files of the bundle into an empty folder.
  /// - Parameter library: the path of the plug-in's library. It is linked where the disk can, or else copied.
  public func write(folder: String, library: String) throws {
    for (rate, filters) in files {
      try Data(filters.bytes).write(
        to: URL(fileURLWithPath: "\(folder)/\(PluginFilters.fileName(sampleRate: rate))"))
    }
    let ports = files.values.first.map { "ports \($0.microphones) \($0.outputs)\n" } ?? ""
    for (name, text) in [
      ("uri", uri + "\n" + ports), ("plugin.ttl", pluginTurtle), (Self.lastFile, manifestTurtle),
    ] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    let target = "\(folder)/\(Self.libraryFile)"
    if link(library, target) != 0 { try FileManager.default.copyItem(atPath: library, toPath: target) }
  }
}

extension PluginFilters.Feed {
  /// - Throws: `Unsupported` if `bank` has no filters for it.
  fileprivate init(_ feed: FeedSetting, of bank: FilterBank) throws(Unsupported) {
    guard let found = bank.cases.first(where: { $0.filterCase == feed.selection.filterCase }) else {
      throw Unsupported("the feed \(feed.name) is not possible at \(bank.sampleRate) Hz")
    }
    self.init(
      gain: feed.amplitude, highPass: feed.highPass.frequency?.value ?? 0, coefficients: found.pluginFilters)
  }
}
