import Acoustics
import ArrayCheck
import AudioFiles
import Glibc
import Messages
import Settings

/// A sound file with the microphones of a device: one channel per microphone, or all channels of the product. Verbs
/// that read microphones from a file open it here, and read it part by part.
final class MicrophoneFile {
  let reader: AudioFileReader
  private let device: Device
  /// The channel of each microphone.
  private let places: [Int]
  /// Energy of each channel so far.
  private var energies: [Double]
  private var doubt: String?
  private let progress: (Double) -> Void

  /// - Parameters:
  ///   - remedy: what to do if there is no such file, an imperative clause.
  ///   - doing: what its sound is read for.
  /// - Throws: if the file is none of the device's microphones: it has other channels, no frames, or is B-format.
  convenience init(_ path: String, of device: Device, _ remedy: String, doing: String = "rendering") throws {
    try InputPath.check(path, remedy)
    try self.init(AudioFileReader(path: path), of: device, doing: doing)
  }

  /// - Throws: as above.
  init(_ reader: AudioFileReader, of device: Device, doing: String = "rendering") throws {
    let path = reader.path
    self.reader = reader
    if let mark = reader.ambisonics {
      throw Failure(
        .failed,
        "\(path) is B-format, as \(mark) says, and no recording of microphones; give the one that it was made from "
          + "(A-format)")
    }
    guard let places = device.channels(inRecordingOf: reader.channels) else {
      throw Failure(.failed, "\(path) \(device.complaint(aboutRecordingOf: reader.channels))")
    }
    guard reader.frames != 0 else { throw Self.empty(path) }
    self.device = device
    self.places = places
    energies = [Double](repeating: 0, count: reader.channels)
    progress = WorkProgress.step(doing)
  }

  private static func empty(_ path: String) -> Failure {
    Failure(.failed, "\(path) has no frames; give a file with sound")
  }

  /// 10 s, and no more than 8 MB.
  private var firstPart: Int { max(16384, min(10 * reader.sampleRate, 2_000_000 / reader.channels)) }

  /// The next frames of every microphone; nil at the end. The first ones are enough to doubt that these are
  /// microphones.
  /// - Throws: also if there are none at all.
  func next() throws -> [[Float]]? {
    let isFirst = reader.position == 0
    let channels = try reader.channels(frames: isFirst ? firstPart : 16384)
    guard !channels[0].isEmpty else {
      if isFirst { throw Self.empty(reader.path) }
      return nil
    }
    for (c, channel) in channels.enumerated() { energies[c] += InvalidSamples.energy(channel) }
    let microphones = places.map { channels[$0] }
    if isFirst { doubt = ArrayCheck.doubt(about: microphones, of: device, sampleRate: reader.sampleRate) }
    if let frames = reader.frames { progress(Double(reader.position) / Double(max(1, frames))) }
    return microphones
  }

  /// What is odd about what was read: one sentence each.
  var remarks: [String] {
    let levels: [Double?] = energies.map { $0 > 0 ? 10 * log10($0 / Double(max(1, reader.position))) : nil }
    let invalid = reader.invalidSamples
    let microphones = zip(device.microphones, places).filter { invalid.counts[$1] > 0 }.map {
      microphone, place in
      let seconds = Double(invalid.first[place] ?? 0) / Double(reader.sampleRate)
      return InvalidSamples.sentence(about: microphone.name, count: invalid.counts[place], seconds: seconds)
        + "; after each of them it was muted for a second"
    }
    return [reader.headerRemark, doubt].compactMap(\.self) + microphones
      + (CaptureShift(levels: levels, of: device)?.warning.map { [$0] } ?? [])
  }
}
