import Foundation
import Session

/// Presets for the control thread, from a disk that may hang: it waits 50 ms for a file, and not at all while an earlier
/// one has not come yet.
///
/// Thread: control.
package final class PresetReader {
  private let read: @Sendable (_ name: String) throws -> Setting
  private var job: Job<Setting>?

  package convenience init(_ library: PresetLibrary) {
    self.init { name in
      let preset = try library.preset(named: name)
      return Setting(preset: preset, device: try library.device(named: preset.device))
    }
  }

  package init(_ read: @escaping @Sendable (_ name: String) throws -> Setting) { self.read = read }

  /// - Throws: what is wrong with its file or its device's, or that the disk does not answer.
  package func setting(ofPreset name: String) throws -> Setting {
    let slow = Failure(.failed, "the disk has not brought the preset \(name) in time; try again in a moment")
    if let job, job.result == nil { throw slow }
    let job = Job.start("pinna presets") { [read] _ in try read(name) }
    self.job = job
    let end = ContinuousClock.now + .milliseconds(50)
    while job.result == nil, ContinuousClock.now < end { usleep(100) }
    guard let result = job.result else { throw slow }
    return try result.get()
  }
}
