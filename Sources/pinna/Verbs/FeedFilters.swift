import Acoustics
import FilterBanks
import FilterDesign
import Messages
import Presets
import Rendering
import Settings

/// The filters of a preset's case and feeds.
struct FeedFilters {
  /// Those that the device's own do not contain: of looks and B-format.
  private(set) var onDemand: [FilterBank] = []

  /// - Throws: `Failure` if the device's filters do not make a feed work, in the words of `feed add`.
  init(of preset: Preset, on device: Device, sampleRate: Int) throws {
    // A case of the device's own that is not offered is no obstacle to the others.
    let main =
      try device.ownDevice(of: preset.main.selection) == nil
      ? [] : [(FeedSetting.main, preset.main.selection)]
    for (name, selection) in main + preset.others.map({ ($0.name, $0.selection) }) {
      do {
        let own = try device.ownDevice(of: selection)
        let sets = try FilterSets(
          device: own ?? device, sampleRate: sampleRate, progress: WorkProgress.designing(device.name))
        _ = try sets.filters(for: selection, of: own ?? device)
        if own != nil { onDemand.append(sets.bank.looking(selection.effectiveLook)) }
      } catch let error as Unsupported {
        throw Failure(.unsupported, "the feed \(name) is not possible: \(error)")
      }
    }
  }
}
