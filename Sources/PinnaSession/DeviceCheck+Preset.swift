import FoundationEssentials
import GuidedCheck
import Messages
import PinnaRemote
import Presets
import Settings

/// The guided check that `pinna check` runs without a server (S21).
public typealias DeviceCheck = GuidedCheck.DeviceCheck
/// Where each voice of a guided check came out, and whether a listener expects it there.
public typealias CheckResults = GuidedCheck.CheckResults
/// A case of the checked device: data source, polar pattern and input orientation.
public typealias CheckCase = GuidedCheck.CheckCase
/// The direction that a voice comes from: left, right, front, behind.
public typealias VoiceDirection = GuidedCheck.VoiceDirection
/// The side on which a voice should come out, and its maximum level.
public typealias VoiceExpectation = GuidedCheck.VoiceExpectation

extension DeviceCheck {
  /// Prepares the check of a preset's device. It needs neither a running Pinna nor a JACK server.
  ///
  /// This takes seconds, or minutes if filters must be designed first.
  /// - Parameters:
  ///   - preset: the preset whose device is checked.
  ///   - array: the device in the simulated sound field; nil for the preset's own. A device file that is checked in its
  ///     own sound field does not reveal its mistakes.
  ///   - sampleRate: in hertz.
  ///   - presets: additional folders of presets and devices, searched before the default ones.
  ///   - environment: environment variables that locate presets (`PINNA_PRESETS` …).
  ///   - progress: called with the fraction of a step that is done, 0…1, from any thread.
  /// - Throws: why a file cannot be read, or why the filters cannot be designed.
  public init(
    preset: String, array: String? = nil, sampleRate: Int = 48000, presets: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    progress: (@Sendable (Step, Double) -> Void)? = nil
  ) throws(SessionError) {
    let library = PresetLibrary(folders: presets + PresetLibrary(environment: environment).folders)
    do {
      try self.init(
        of: library.device(named: library.preset(named: preset).device),
        in: array.map { try library.device(named: $0) }, sampleRate: sampleRate, progress: progress)
    } catch {
      throw SessionError(Failure(error))
    }
  }
}
