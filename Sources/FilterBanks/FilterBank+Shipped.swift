import Acoustics
import FilterDesign
import Numerics
import Presets

extension FilterBank {
  /// The filters of `device`: those that ship with its preset, those in the cache, or newly designed ones; all with the
  /// deviations of its microphones undone.
  ///
  /// Presets that ship include filters for 44.1 and 48 kHz, in the folder `filters` beside them.
  /// - Parameters:
  ///   - sampleRate: 8000…192 000 Hz.
  ///   - cancellation: ends a design early.
  ///   - progress: called with the fraction that is done, 0…1, only if filters are designed.
  /// - Throws: `DesignError.cancelled` if `cancellation` ended the design; another `DesignError` if the device's
  ///   filters cannot be designed.
  public static func ready(
    device: Device, sampleRate: Int, cancellation: DesignCancellation? = nil,
    progress: (@Sendable (Double) -> Void)? = nil
  ) throws(DesignError) -> FilterBank {
    try cached(
      device: device, sampleRate: sampleRate, shipped: PresetLibrary.standard.folders.map { $0 + "/filters" },
      cancellation: cancellation, progress: progress
    ).undoing(device.deviations)
  }
}
