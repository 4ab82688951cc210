import AudioFiles
import FoundationEssentials
import Glibc
import Settings

/// The audio files of one segment of a take: one for each feed and, if requested, one for the microphones. All always have
/// the same number of frames.
///
/// Thread: the take's disk thread makes all calls.
final class TakeSegment {
  /// Frame of the take at which it begins.
  let start: Int
  private let width: Int
  /// Its files, in the order of the ring's channels.
  private var parts: [Part] = []
  private let names: Sidecar.Files
  private(set) var silencedSamples = 0
  /// Whether a file that was closed has no cues for its markers.
  private(set) var lacksCues = false

  private struct Part {
    let writer: AudioFileWriter
    /// Name in the take's folder.
    let name: String
    /// What it holds, in words.
    let content: String
    /// The channels of the ring that it holds.
    let channels: Range<Int>
  }

  /// - Parameter stem: the prefix of its file names.
  init(folder: OpenFolder, stem: String, start: Int, plan: TakePlan) throws(TakeError) {
    self.start = start
    width = plan.channels
    let main = stem + ".wav"
    let feeds = plan.feeds.map { (name: $0.setup.name, file: "\(stem)-\($0.setup.name).wav", feed: $0) }
    let microphones = stem + "-microphones.wav"
    names = Sidecar.Files(
      frame: start, frames: 0, outputs: plan.outputs > 0 ? main : nil,
      feeds: feeds.isEmpty
        ? nil : Dictionary(feeds.map { ($0.name, $0.file) }, uniquingKeysWith: { a, _ in a }),
      microphones: plan.microphones > 0 ? microphones : nil)
    do throws(TakeError) {
      let content = plan.setup.first
      try open(
        main,
        FeedSetting.trackNames(Array(["left", "right"].prefix(plan.outputs)), of: FeedSetting.main),
        [content[.dataSource], content[.pattern]].compactMap(\.?.word).joined(separator: " "),
        in: folder, plan)
      for (_, file, feed) in feeds {
        let setup = feed.setup
        try open(
          file, FeedSetting.trackNames(setup.channels, of: setup.name), setup.content, in: folder, plan,
          hasSpeakers: setup.order == nil)
      }
      let names = plan.microphones > 0 ? plan.setup.microphones : []
      try open(microphones, names, "microphones", in: folder, plan, hasSpeakers: false)
    } catch {
      discard()
      throw error
    }
  }

  /// Opens the file of the next channels; none of no channels.
  private func open(
    _ name: String, _ tracks: [String], _ content: String, in folder: OpenFolder, _ plan: TakePlan,
    hasSpeakers: Bool = true
  ) throws(TakeError) {
    guard !tracks.isEmpty else { return }
    let channels = tracks.count
    let first = parts.last?.channels.upperBound ?? 0
    do {
      let writer = try AudioFileWriter(
        folder: folder, name: name, encoding: plan.options.format.encoding, channels: channels,
        sampleRate: plan.sampleRate, areMicrophones: !hasSpeakers,
        labels: SoundLabels(broadcast: .unknown, trackNames: tracks))
      parts.append(Part(writer: writer, name: name, content: content, channels: first..<first + channels))
    } catch {
      throw TakeError(error.description)
    }
  }

  private var writers: [AudioFileWriter] { parts.map(\.writer) }
  var frames: Int { parts[0].writer.framesWritten }
  var clippedSamples: Int { writers.reduce(0) { $0 + $1.clippedSamples } }
  /// Why other programs cannot see that the files are being written; nil if they can.
  var lockFault: String? { writers.compactMap(\.lock.fault).first }

  var files: Sidecar.Files {
    var files = names
    files.frames = frames
    return files
  }

  /// - Parameter broadcast: of a file with this content.
  func setBroadcast(_ broadcast: (String) -> BroadcastExtension) {
    for part in parts { part.writer.setBroadcast(broadcast(part.content)) }
  }

  /// Writes whole interleaved frames, as the ring has them. NaN and infinity become silence.
  func write(_ frames: UnsafeBufferPointer<Float>) throws(AudioFileError) {
    for part in parts {
      silencedSamples += try part.writer.write(part.channels, of: frames, width: width)
    }
  }

  func writeSilence(frames: Int) throws(AudioFileError) {
    for writer in writers { try writer.skip(frames: frames) }
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
  ///   - title: of the take; empty for none.
  ///   - memory: of the engine when the take began, for the microphones' file; empty for none.
  ///   - isLast: whether the take ends here. A marker may be newer than the last frame on disk.
  /// - Returns: the errors, one sentence each.
  func close(
    markers: [Sidecar.Marker], title: String = "", memory: [UInt8] = [], isLast: Bool
  ) -> [String] {
    let cues = Sidecar.cues(markers, from: start, frames: frames, isLast: isLast)
    var faults: [String] = []
    for part in parts {
      do {
        let memory = part.name == names.microphones ? memory : []
        if try !part.writer.close(cues: cues, title: title, private: memory) { lacksCues = true }
      } catch {
        faults.append(error.description)
      }
    }
    return faults
  }

  /// Names of the files that stayed `.part`.
  var unfinished: [String] { parts.filter { $0.writer.fate == .part }.map(\.name) }

  func discard() {
    for writer in writers { writer.abandon() }
  }
}
