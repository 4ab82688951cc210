import Session

/// Presets for the control thread, from a disk that may hang.
///
/// Thread: control.
package final class PresetReader {
  private let read: @Sendable (_ name: String) throws -> Setting
  private let disk = DiskThread("pinna presets")

  package convenience init(_ library: PresetLibrary) {
    self.init { name in
      let preset = try library.preset(named: name)
      return Setting(preset: preset, device: try library.device(named: preset.device))
    }
  }

  package init(_ read: @escaping @Sendable (_ name: String) throws -> Setting) { self.read = read }

  /// - Throws: what is wrong with its file or its device's, or that the disk does not answer.
  package func setting(ofPreset name: String) throws -> Setting {
    let outcome = try disk.ask { [read] in Result { try read(name) }.mapError { Failure($0) } }
    guard case .done(let result) = outcome else {
      throw Failure(.failed, "the disk has not brought the preset \(name) in time; try again in a moment")
    }
    return try result.get()
  }
}
