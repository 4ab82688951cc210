import AudioFiles
import FoundationEssentials
import Glibc

/// The audio files of one segment of a take: outputs and, if requested, microphones. Both always have the same number
/// of frames.
///
/// Thread: the take's disk thread makes all calls.
final class TakeSegment {
  /// Frame of the take at which it begins.
  let start: Int
  private let plan: TakePlan
  private let outputs: AudioFileWriter
  private var microphones: AudioFileWriter?
  /// File names in the take's folder.
  private let names: (outputs: String, microphones: String?)
  private(set) var silencedSamples = 0
  /// Whether a file that was closed has no cues for its markers.
  private(set) var lacksCues = false
  /// Buffer for the frames of one file. Reused, so that writing allocates nothing.
  private var samples: [Float] = []

  /// - Parameter stem: the prefix of its file names.
  init(folder: OpenFolder, stem: String, start: Int, plan: TakePlan) throws(TakeError) {
    self.start = start
    self.plan = plan
    names = (stem + ".wav", plan.microphones > 0 ? stem + "-microphones.wav" : nil)
    outputs = try Self.open(folder, names.outputs, plan, plan.outputs, areMicrophones: false)
    guard let name = names.microphones else { return }
    do {
      microphones = try Self.open(folder, name, plan, plan.microphones, areMicrophones: true)
    } catch {
      outputs.abandon()
      throw error
    }
  }

  private static func open(
    _ folder: OpenFolder, _ name: String, _ plan: TakePlan, _ channels: Int, areMicrophones: Bool
  ) throws(TakeError) -> AudioFileWriter {
    do {
      return try AudioFileWriter(
        folder: folder, name: name, encoding: plan.options.format.encoding, channels: channels,
        sampleRate: plan.sampleRate, areMicrophones: areMicrophones, broadcast: .unknown, replacing: false)
    } catch {
      throw TakeError(error.description)
    }
  }

  private var writers: [AudioFileWriter] { [outputs] + (microphones.map { [$0] } ?? []) }
  var frames: Int { outputs.framesWritten }
  var clippedSamples: Int { writers.reduce(0) { $0 + $1.clippedSamples } }
  /// Why other programs cannot see that the files are being written; nil if they can.
  var lockFault: String? { writers.compactMap(\.lock.fault).first }

  var files: Sidecar.Files {
    Sidecar.Files(frame: start, frames: frames, outputs: names.outputs, microphones: names.microphones)
  }

  func setBroadcast(_ broadcast: BroadcastExtension) {
    for writer in writers { writer.setBroadcast(broadcast) }
  }

  /// Writes whole interleaved frames, outputs first. NaN and infinity become silence.
  func write(_ frames: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    copy(0..<plan.outputs, of: frames)
    try outputs.write(samples)
    guard let microphones else { return }
    copy(plan.outputs..<plan.outputs + plan.microphones, of: frames)
    try microphones.write(samples)
  }

  func writeSilence(frames: Int) throws(AudioFileError) {
    for writer in writers { try writer.skip(frames: frames) }
  }

  /// Copies a range of channels into `samples`.
  private func copy(_ span: Range<Int>, of frames: UnsafeBufferPointer<Float>) {
    let width = plan.outputs + plan.microphones
    samples.removeAll(keepingCapacity: true)
    samples.reserveCapacity(frames.count / width * span.count)
    for start in stride(from: 0, to: frames.count, by: width) {
      for channel in span {
        let sample = frames[start + channel]
        if !sample.isFinite { silencedSamples += 1 }
        samples.append(sample.isFinite ? sample : 0)
      }
    }
  }

  /// The path of the first file that was deleted; nil if none.
  var removedPath: String? { writers.first(where: \.isRemoved).map { $0.path } }

  func flush() throws(AudioFileError) {
    for writer in writers { try writer.flush() }
  }

  /// Truncates all files to the length of the shortest, after a failed write.
  func truncateToCommonLength() {
    let common = writers.map(\.framesWritten).min() ?? 0
    for writer in writers { writer.end(atFrame: common) }
  }

  /// Finishes the files. Each one that is complete gets its final name.
  /// - Parameters:
  ///   - markers: those of the take; the files get those that are within them.
  ///   - isLast: whether the take ends here. A marker may be newer than the last frame on disk.
  /// - Returns: the errors, one sentence each.
  func close(markers: [Sidecar.Marker], isLast: Bool) -> [String] {
    let cues = markers.filter { $0.frame >= start && (isLast || $0.frame < start + frames) }.map {
      WAVCue(frame: min($0.frame - start, frames), label: $0.label)
    }
    var faults: [String] = []
    for writer in writers {
      do {
        if try !writer.close(cues: cues) { lacksCues = true }
      } catch {
        faults.append(error.description)
      }
    }
    return faults
  }

  /// Names of the files that stayed `.part`.
  var unfinished: [String] {
    zip(writers, [names.outputs, names.microphones].compactMap { $0 }).filter { $0.0.fate == .part }.map(\.1)
  }

  func discard() {
    for writer in writers { writer.abandon() }
  }
}
