import Acoustics
import FilterDesign
import Messages
import Presets
import Rendering

/// The filters of a preset's feeds besides `main`.
struct FeedFilters {
  /// Those of B-format, which the device's own do not contain.
  private(set) var ambisonics: [FilterBank] = []

  /// - Throws: `Failure` if the device's filters do not make a feed work, in the words of `feed add`.
  init(of preset: Preset, on device: Device, sampleRate: Int) throws {
    for feed in preset.feeds {
      let isAmbisonic = feed.selection.polarPattern.ambisonicsOrder != nil
      do {
        let own = isAmbisonic ? try device.ambisonics(feed.selection) : device
        let sets = try FilterSets(
          device: own, sampleRate: sampleRate, progress: WorkProgress.designing(device.name))
        _ = try sets.filters(for: feed.selection, of: own)
        if isAmbisonic { ambisonics.append(sets.bank) }
      } catch let error as Unsupported {
        throw Failure(.unsupported, "the feed \(feed.name) is not possible: \(error)")
      }
    }
  }
}
