import Acoustics
import FilterDesign
import Numerics
import Presets

extension FilterBank {
  /// The filters of `device`: those that ship with its preset, or an earlier design, or a new one.
  ///
  /// Presets that ship carry theirs for 44.1 and 48 kHz in `filters` beside them. `progress` is called where
  /// something is designed; `cancellation` ends that early, with `DesignError.cancelled`.
  public static func ready(
    device: Device, sampleRate: Int, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try cached(
      device: device, sampleRate: sampleRate, shipped: PresetLibrary.standard.folders.map { $0 + "/filters" },
      cancellation: cancellation, progress: progress)
  }
}
