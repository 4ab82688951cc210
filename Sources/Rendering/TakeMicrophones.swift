import Acoustics
import AudioFiles
import Glibc
import Presets
import Realtime
import Recording
import Settings

/// The take that a file belongs to, by the sidecar beside it: whose take it is, its microphones, what they heard before
/// the file's first frame, and the filters that replaced those of all microphones while some failed.
package struct TakeMicrophones {
  /// The file of its microphones.
  package let path: String
  package let sidecar: Sidecar
  /// The feed that was recorded in the given file, if it is of another than main.
  package let feed: String?
  package let files: Sidecar.Files
  package let gaps: TakeGaps
  /// Tells what is odd, a sentence at a time.
  let tell: (String) -> Void
  var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "" }

  /// Nil for a file that is not of a take, or of one without microphones. A sidecar that cannot be read is reported.
  package init?(_ path: String, tell: @escaping (String) -> Void) {
    do throws(TakeError) {
      guard let found = try Sidecar.ofFile(at: path),
        let name = found.sidecar.files[found.segment].microphones
      else { return nil }
      (sidecar, feed, files) = (found.sidecar, found.feed, found.sidecar.files[found.segment])
      (gaps, self.tell) = (TakeGaps(sidecar), tell)
      self.path = (path.lastIndex(of: "/").map { String(path[...$0]) } ?? "") + name
    } catch {
      tell(
        "\(error.description); the take's array and its missing microphones are unknown, so fallback filters are not "
          + "repeated")
      return nil
    }
  }

  /// The feed that the given file stands for: its own; for the microphones and the sidecar main, or the take's only feed.
  /// - Throws: if main was not recorded, and several feeds were.
  package func feedOfFile() throws(Failure) -> String {
    let recorded = sidecar.feedNames
    guard sidecar.channels == 0, recorded.count > 1 else { return feed ?? recorded[0] }
    if let feed { return feed }
    throw Failure(
      .usage,
      "the take of \(path) has the feeds \(recorded.joined(separator: ", ")), and main was not "
        + "recorded; name one with --feed, or render all with --into DIR")
  }

  /// The feeds that `--feeds` names, as `record start` has it: all, or names with commas.
  /// - Returns: nil if it is a file's name.
  package func feeds(named text: String) throws -> [String]? {
    let recorded = sidecar.feedNames
    if text.lowercased() == "all" { return recorded }
    let unknown = text.listed.first { name in
      !recorded.contains { $0.lowercased() == name.lowercased() }
    }
    guard let unknown else {
      let chosen = text.listed.map { $0.lowercased() }
      return recorded.filter { chosen.contains($0.lowercased()) }
    }
    guard access(text, F_OK) != 0 else { return nil }
    throw UnknownWord(kind: "feed", word: unknown, choices: recorded + ["all"])
  }

  /// When these microphones were recorded; nil if nobody knows.
  package var broadcast: BroadcastExtension? {
    let own = (try? AudioFileReader(path: path))?.broadcast.flatMap { $0.date.isEmpty ? nil : $0 }
    return own ?? sidecar.broadcast(of: files)
  }

  /// What was set when the take was recorded.
  /// - Parameter adapt: what is done with the take's device before it is used.
  /// - Throws: if its device or its choice is not there any more.
  package func setting(
    of feed: String = FeedSetting.main, in library: PresetLibrary, _ adapt: (Device) throws -> Device
  ) throws -> Setting {
    let setup = sidecar.setup
    let device = try device(in: library)
    // Nothing but the sidecar says what was set.
    let preset =
      setup.array != nil
      ? nil : (try? library.preset(named: setup.preset)).flatMap { $0.device == device.name ? $0 : nil }
    var setting = Setting(preset: preset ?? Preset(of: device), device: try adapt(device))
    do {
      let feeds = sidecar.allFeeds
      guard let recorded = feeds.first(where: { $0.name == feed }) else {
        throw UnknownWord(kind: "feed", word: feed, choices: feeds.map(\.name))
      }
      try setting.apply(recorded.values.changes)
      setting.seats = try Seat.list(setup.seats ?? [])
    } catch {
      throw Failure(
        .failed, "the sidecar of \(path) holds an unusable setting: \(error); give --preset or --device")
    }
    return setting
  }

  /// The array as it was; of a take of an older Pinna, as it is now.
  private func device(in library: PresetLibrary) throws -> Device {
    let setup = sidecar.setup
    do {
      guard let array = setup.array else { return try library.device(named: setup.device) }
      return try array.device(named: setup.device) { try located($0, in: library) }
    } catch let failure as Failure {
      throw failure
    } catch is TakeError, is DeviceFault {
      throw Failure(
        .failed,
        "the sidecar of \(path) describes an array that there cannot be; it is damaged: give the array's file with --device"
      )
    } catch {
      throw Failure(
        .failed,
        "\(path) is of a take of the device \(setup.device), which cannot be used here (\(error)); give its file with --device"
      )
    }
  }

  /// The file of a measurement as it was when the take was recorded: at its place, beside the take, or where the present
  /// device has it.
  private func located(_ file: RecordedDevice.MeasuredFile, in library: PresetLibrary) throws(Failure)
    -> String
  {
    let name = file.path.split(separator: "/").last.map(String.init) ?? file.path
    let present = (try? library.device(named: sidecar.setup.device))?.measuredFiles ?? []
    let places = [file.path, folder + name] + present
    if let found = places.first(where: { file.digest != nil && ContentHash.ofFile($0) == file.digest }) {
      return found
    }
    throw Failure(
      .failed,
      "the array of \(path) is described by the measurement \(name), which is not here as it was; put that file beside the "
        + "take, or give an array with --device")
  }

  /// Says if the array's file is not as it was when the take was recorded, which the take does not depend on.
  func tellChanges(in library: PresetLibrary) {
    guard let array = sidecar.setup.array else { return }
    let own = array.file.flatMap { access($0, R_OK) == 0 ? try? library.device(path: $0) : nil }
    guard let present = own ?? (try? library.device(named: sidecar.setup.device)) else { return }
    guard !RecordedDevice(present, digest: ContentHash.ofFile).isSame(as: array) else { return }
    let file = present.source.path ?? present.name
    tell(
      "\(sidecar.setup.device) has changed since this take was recorded: it is rendered with the array as it was; for the "
        + "present one, give --device \(own == nil ? present.name : file)")
  }

  /// Says if the take was recorded with another device, or with another calibration of this one.
  /// - Parameter library: where the array's file is sought that may have changed since, if `device` is the recorded one;
  ///   nil if it is given.
  /// - Throws: if the take's microphones are others, or their file is not as it was.
  package func check(_ device: Device, recordedIn library: PresetLibrary? = nil) throws(Failure) {
    if let fault = sidecar.fault(ofMicrophonesIn: folder, upTo: files) {
      throw Failure(.incompleteTake, "\(fault); bring that file back, or move the take's sidecar away")
    }
    let (setup, names) = (sidecar.setup, device.microphones.map(\.name))
    guard setup.microphones == names else {
      throw Failure(
        .failed,
        "\(path) is of a take of \(setup.device), with the microphones \(setup.microphones.joined(separator: ", ")), but "
          + "\(device.name) has \(names.joined(separator: ", ")); give --device \(setup.device), or move the take's sidecar away"
      )
    }
    if let library, setup.array != nil { return tellChanges(in: library) }
    if setup.device != device.name {
      tell("\(path) is of a take of \(setup.device), and taken as one of \(device.name)")
    } else if let array = setup.array, setup.calibrated == device.calibration?.date,
      !RecordedDevice(device, digest: ContentHash.ofFile).isSame(as: array)
    {
      tell("\(device.name) has changed since this take was recorded; it is taken as it is now")
    } else if setup.calibrated != device.calibration?.date {
      func words(_ date: String?) -> String { date.map { "the calibration of \($0)" } ?? "no calibration" }
      tell(
        "this take was recorded with \(words(setup.calibrated)) of \(device.name), which has "
          + "\(words(device.calibration?.date)) now")
    }
  }

  /// The period that it was recorded with; nil if the sidecar does not say.
  package var period: Int? {
    sidecar.engine.map(\.period).flatMap { (1...Partitioning.longestPeriod).contains($0) ? $0 : nil }
  }

  /// The instruction set that it was recorded with, if this processor has it.
  package var instructionSet: InstructionSet? {
    sidecar.engine.flatMap { InstructionSet(rawValue: $0.instructionSet) }.flatMap {
      $0.isAvailable ? $0 : nil
    }
  }
}
