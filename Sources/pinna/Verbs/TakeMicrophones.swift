import Acoustics
import AudioFiles
import Messages
import Presets
import Processor
import Recording
import Rendering

/// The take that a file of microphones belongs to, by the sidecar beside it: whose take it is, what the microphones
/// heard before the file's first frame, and the filters that replaced those of all microphones while some failed.
struct TakeMicrophones {
  private let path: String
  private let sidecar: Sidecar
  /// The frame of the take at which the file begins.
  private let firstFrame: Int

  /// Nil for a file that is not of a take. A sidecar that cannot be read is reported.
  init?(_ path: String) {
    do throws(TakeError) {
      guard let found = try Sidecar.ofMicrophones(at: path) else { return nil }
      (sidecar, firstFrame) = found
    } catch {
      Tool.complain(
        "\(error.description); the take's array and its missing microphones are unknown, so fallback filters are not "
          + "repeated")
      return nil
    }
    self.path = path
  }

  /// The mark of what these microphones are rendered to.
  func mark(_ arguments: Arguments) -> RenderMark { RenderMark(of: path, sidecar, arguments) }

  /// What was set when the take was recorded.
  /// - Parameter adapt: what is done with the take's device before it is used.
  /// - Throws: if its device or its choice is not there any more.
  func setting(in library: PresetLibrary, _ adapt: (Device) throws -> Device) throws -> Setting {
    let setup = sidecar.setup
    let device: Device
    do { device = try library.device(named: setup.device) } catch {
      throw Failure(
        .failed,
        "\(path) is of a take of the device \(setup.device), which cannot be used here (\(error)); give its file with --device"
      )
    }
    let preset = (try? library.preset(named: setup.preset)).flatMap { $0.device == device.name ? $0 : nil }
    var setting = Setting(preset: preset ?? Preset(of: device), device: try adapt(device))
    do {
      try setting.apply([
        Change(.dataSource, setup.dataSource), Change(.pattern, setup.polarPattern),
        Change(.orientation, setup.inputOrientation), Change(.gain, "\(setup.gainDB)"),
        Change(.highPass, setup.highPassHz.map { "\($0)" } ?? "off"),
      ])
    } catch {
      throw Failure(
        .failed, "the sidecar of \(path) holds an unusable setting: \(error); give --preset or --device")
    }
    return setting
  }

  /// Says if the take was recorded with another device, or with another calibration of this one.
  /// - Throws: if the take's microphones are others.
  func check(_ device: Device) throws(Failure) {
    let (setup, names) = (sidecar.setup, device.microphones.map(\.name))
    guard setup.microphones == names else {
      throw Failure(
        .failed,
        "\(path) is of a take of \(setup.device), with the microphones \(setup.microphones.joined(separator: ", ")), but "
          + "\(device.name) has \(names.joined(separator: ", ")); give --device \(setup.device), or move the take's sidecar away"
      )
    }
    if setup.device != device.name {
      Tool.complain("\(path) is of a take of \(setup.device), and taken as one of \(device.name)")
    } else if setup.calibrated != device.calibration?.date {
      func words(_ date: String?) -> String { date.map { "the calibration of \($0)" } ?? "no calibration" }
      Tool.complain(
        "this take was recorded with \(words(setup.calibrated)) of \(device.name), which has "
          + "\(words(device.calibration?.date)) now")
    }
  }

  /// The frames of the microphones before the file's first one, from the files of the take before it.
  /// - Parameters:
  ///   - count: how many are wanted. There are fewer where the take begins, and none if a file is missing, which is
  ///     said.
  ///   - period: they begin with a period of the whole take.
  /// - Returns: shape `[microphone][frame]`
  func framesBefore(_ count: Int, period: Int) -> [[Float]] {
    let first = max(0, (firstFrame - count) / period * period)
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    do throws(TakeError) {
      return try sidecar.microphones(before: firstFrame, count: firstFrame - first, in: String(folder))
    } catch {
      Tool.complain("\(error); \(path) is rendered as if silence came before it")
      return []
    }
  }

  /// The filters from each frame on, counted from `framesBefore` frames before the file. Says on standard error what is
  /// repeated.
  /// - Throws: if the sidecar lists what no take can have.
  func substitutions(_ setting: Setting, sampleRate: Int, framesBefore: Int) throws
    -> [FilterSets.Substitution]
  {
    try checkFallbacks()
    let fallbacks = sidecar.fallbacks(from: firstFrame - framesBefore)
    guard fallbacks.contains(where: { !$0.without.isEmpty }) else { return [] }
    Tool.complain("this take was recorded with microphones missing; its fallback filters are repeated")
    var sets: [Set<String>: FilterSets] = [:]
    return try fallbacks.map { fallback in
      let missing = Set(fallback.without)
      if !missing.isEmpty, sets[missing] == nil {
        sets[missing] = try FilterSets(
          fallbackFor: setting.device, without: missing, sampleRate: sampleRate,
          progress: WorkProgress.designing(setting.device.name))
      }
      return FilterSets.Substitution(frame: fallback.frame, filters: sets[missing])
    }
  }

  private func checkFallbacks() throws(Failure) {
    let (all, names) = (sidecar.fallbacks ?? [], sidecar.setup.microphones)
    let isPlausible =
      all.allSatisfy { Set($0.without).isSubset(of: names) && 2 * Set($0.without).count <= names.count }
      && zip(all, all.dropFirst()).allSatisfy { $0.frame < $1.frame } && all.first?.frame ?? 0 >= 0
      && all.last?.frame ?? 0 <= sidecar.frames
    guard isPlausible else {
      throw Failure(
        .failed,
        "the sidecar beside \(path) lists fallbacks that its take cannot have had; move it away to render without them"
      )
    }
  }
}
