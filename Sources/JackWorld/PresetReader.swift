import Presets
import Processor

/// Reads presets on a worker, because their disk may hang.
///
/// Thread: control thread.
package final class PresetReader {
  /// Runs on the worker.
  private let read: @Sendable (_ name: String) throws -> Setting
  private let worker = LazyWorker("pinna presets")

  package convenience init(_ library: PresetLibrary) {
    self.init { name in
      let preset = try library.preset(named: name)
      return Setting(preset: preset, device: try library.device(named: preset.device))
    }
  }

  package init(_ read: @escaping @Sendable (_ name: String) throws -> Setting) { self.read = read }

  /// Reads a preset and its device. Reads run one at a time. Fails with the error in the preset or device file.
  package func setting(ofPreset name: String) -> Job<Setting> {
    worker.job { [read] in try read(name) }
  }
}
