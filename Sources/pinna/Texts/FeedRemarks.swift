import Acoustics
import Messages
import Presets

extension Preset {
  /// Where `report` and `check`, which are about the cases of a device, have the preset's feeds: one sentence for each.
  /// - Parameter included: the cases that they are about.
  func feedRemarks(_ included: [FilterCase], on device: Device) -> [String] {
    others.map { feed in
      let pattern = feed.selection.polarPattern
      let start =
        "The feed \(feed.name) is \(feed.selection.dataSource), \(pattern.phrase)\(feed.selection.effectiveLook?.phrase ?? "")"
        + (pattern.isOriented ? ", \(feed.selection.inputOrientation.rawValue)" : "")
      guard !included.contains(feed.selection.filterCase) else { return start + "." }
      if let look = feed.selection.effectiveLook {
        return start + ", which is not included; see: pinna report --preset \(name) --look \(look.word)"
          + " --pattern \(pattern.rawValue) --data-source \(Shell.word(feed.selection.dataSource))"
      }
      guard let order = pattern.ambisonicsOrder, main.selection.with(pattern, on: device) == feed.selection
      else {
        return start + ", which is not included."
      }
      return start
        + ", which is not included; see: pinna report --preset \(name) --format ambix --order \(order)"
    }
  }
}
