import Control
import Foundation
import GuidedCheck
import Presets

/// The guided check, as `pinna check` runs it without a server (S21).
public typealias DeviceCheck = GuidedCheck.DeviceCheck
/// Where each voice of a guided check came out, and whether that is where the listener expects it.
public typealias CheckResults = GuidedCheck.CheckResults
/// One case of a device that is checked: data source, polar pattern and input orientation.
public typealias CheckCase = GuidedCheck.CheckCase
/// left, right, front, behind: where a voice comes from.
public typealias VoiceDirection = GuidedCheck.VoiceDirection
/// On which side a voice should come out, and how loud at most.
public typealias VoiceExpectation = GuidedCheck.VoiceExpectation

extension DeviceCheck {
  /// Makes ready the check of a preset's device. No Pinna and no JACK server need to run.
  ///
  /// It takes seconds, and minutes where filters are designed first.
  /// - Parameters:
  ///   - preset: whose device's filters are checked.
  ///   - array: the device that stands in the sound field; nil for the preset's own. A device that is checked in its own
  ///     sound field does not show mistakes of its file.
  ///   - sampleRate: in hertz.
  ///   - presets: folders to look for presets and devices in, before the usual ones.
  ///   - environment: says where presets are (`PINNA_PRESETS` …).
  ///   - progress: called with what part of a step is done, 0…1, from any thread.
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
