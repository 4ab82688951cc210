import Presets
import Threads

/// Presets for the control thread, which does not wait for them: their disk may hang.
///
/// Thread: control.
package final class PresetReader {
  private let read: @Sendable (_ name: String) throws -> Setting
  /// Nil until something is asked.
  private var worker: Worker?

  package convenience init(_ library: PresetLibrary) {
    self.init { name in
      let preset = try library.preset(named: name)
      return Setting(preset: preset, device: try library.device(named: preset.device))
    }
  }

  package init(_ read: @escaping @Sendable (_ name: String) throws -> Setting) { self.read = read }

  /// Fails with what is wrong with its file or its device's. Presets are read one after the other.
  package func setting(ofPreset name: String) -> Job<Setting> {
    do {
      let worker = if let worker { worker } else { try Worker("pinna presets") }
      self.worker = worker
      return worker.job { [read] in try read(name) }
    } catch {
      let job = Job<Setting>()
      job.finish(.failure(Failure(error)))
      return job
    }
  }
}
