import Acoustics
import FilterDesign
import Plugin
import Presets

/// What the controls of a device's plug-in offer, in the order of their values.
struct PluginOffer: Sendable {
  let dataSources: [String]
  let patterns: [PolarPattern]
  let orientations: [InputOrientation]

  /// - Parameter cases: those that are usable at one or more sample rates.
  init(_ cases: [FilterCase], of device: Device) {
    dataSources = device.dataSources.map(\.name).filter { name in cases.contains { $0.dataSource == name } }
    patterns = PolarPattern.allCases.filter { pattern in cases.contains { $0.polarPattern == pattern } }
    let held = InputOrientation.allCases.filter { held in cases.contains { $0.inputOrientation == held } }
    orientations = held.isEmpty ? [.portrait] : held
  }

  /// What a preset sets the controls to; nil if they cannot express it.
  func setting(of preset: Preset) -> PluginSetting? {
    let selection = preset.main.selection
    guard let source = dataSources.firstIndex(of: selection.dataSource),
      let pattern = patterns.firstIndex(of: selection.polarPattern), selection.effectiveLook == nil,
      selection.pose == .none, selection.follows.isEmpty
    else { return nil }
    let orientation = orientations.firstIndex(of: selection.inputOrientation)
    guard orientation != nil || !selection.polarPattern.isOriented else { return nil }
    var setting = PluginSetting()
    (setting.dataSource, setting.pattern, setting.orientation) = (source, pattern, orientation ?? 0)
    setting.setLevel(of: preset)
    return setting
  }

  /// The cases of `bank` that the controls can choose.
  func cases(of bank: FilterBank) -> [PluginFilters.Case] {
    bank.cases.filter(\.filterCase.isPluginCase).map { coefficients in
      let filterCase = coefficients.filterCase
      return PluginFilters.Case(
        dataSource: dataSources.firstIndex(of: filterCase.dataSource)!,
        pattern: patterns.firstIndex(of: filterCase.polarPattern)!,
        orientation: filterCase.inputOrientation.map { orientations.firstIndex(of: $0)! },
        coefficients: coefficients.pluginFilters)
    }
  }
}

extension FilterCase {
  /// Whether a plug-in's controls can choose it: neither looks nor B-format.
  var isPluginCase: Bool { look == nil && polarPattern.outputs <= 2 }
}

extension PluginSetting {
  /// Takes over a preset's gain and high-pass.
  mutating func setLevel(of preset: Preset) {
    (gain, highPass) = (preset.main.gain.value, preset.main.highPass.frequency?.value ?? 0)
  }
}

extension FilterCoefficients {
  /// Shape: `[output][microphone][tap]`; one output for a mono pattern.
  var pluginFilters: [[[Float]]] { Array(taps.filters.prefix(filterCase.polarPattern.outputs)) }
}
