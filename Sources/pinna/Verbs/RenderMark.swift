import AudioFiles
import Glibc
import Measurements
import Messages
import Presets
import Recording
import Threads

/// The take and the options that a WAV file was rendered with, as its broadcast extension names them. A batch that is
/// continued recognises its own outputs by that.
struct RenderMark {
  /// Options that do not change the sound.
  private static let others: Set = ["--json", "--takes", "--into", "--jobs", "--print-jobs", "--force"]

  private let start: String
  private let text: String

  /// - Parameters:
  ///   - path: of the microphones' file. Its name and its beginning tell whether two takes are copies, wherever they are.
  ///   - arguments: of `pinna render`.
  ///   - digests: `Self.digests` of them.
  init(of path: String, _ sidecar: Sidecar, _ arguments: Arguments, _ digests: [String]) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let words = Self.words(arguments)
    var hash = ContentHash()
    // The one who is named is the talker nearest to a seat, and seats may be edited after the take.
    let seats = ["--part", "--automation"].contains(where: arguments.has) ? sidecar.setup.seats ?? [] : []
    for word in [name, sidecar.started ?? "", "\(sidecar.frames)"] + words + seats {
      hash.add(Array(word.utf8) + [0])
    }
    hash.add(Self.beginning(of: path))
    for digest in digests { hash.add(Array(digest.utf8)) }
    start = "pinna render \(hash.digits): "
    text = ([name, sidecar.started.map { "of \($0)" }] + words).compactMap(\.self).joined(separator: " ")
  }

  /// Of the sound: a new title or marker changes the rest of a file.
  private static func beginning(of path: String) -> [UInt8] {
    let sound = try? AudioFileReader(path: path).read(frames: 8192)
    return (sound ?? []).flatMap { sample in withUnsafeBytes(of: sample.bitPattern.littleEndian, Array.init) }
  }

  /// Of the files that options name, whose contents change the sound: --hrtf and --automation; the preset, and the device with
  /// what was measured of it.
  static func digests(_ arguments: Arguments) -> [String] {
    files(arguments).compactMap { ContentHash.ofFile($0) }
  }

  private static func files(_ arguments: Arguments) -> [String] {
    let named = ["--hrtf", "--automation"].compactMap { arguments[$0] }
    let library = PresetLibrary.standard
    guard arguments.has("--preset") || arguments.has("--device"),
      let (preset, device) = try? arguments.presetAndDevice(in: library)
    else { return named }
    let described = arguments.has("--preset") ? try? library.path(ofPreset: preset.name) : nil
    let paths = [described, device.source.path, library.calibrationPath(of: device)].compactMap(\.self)
    return named + paths + device.measuredFiles
  }

  /// The options that change the sound, sorted by their names.
  static func words(_ arguments: Arguments) -> [String] {
    arguments.flags.subtracting(others).sorted()
      + arguments.options.filter { !others.contains($0.key) }.sorted { $0.key < $1.key }.flatMap {
        name, values in
        values.flatMap { [name, $0] }
      }
  }

  /// - Parameter recording: says when it began; nil if nobody knows.
  func broadcast(of recording: BroadcastExtension?) -> BroadcastExtension {
    BroadcastExtension(
      description: start + text, date: recording?.date ?? "", time: recording?.time ?? "",
      timeReference: recording?.timeReference ?? 0)
  }

  /// Whether the file at `path` has this mark, and `frames` frames.
  func isComplete(_ path: String, frames: Int) -> Bool {
    guard isIn(path), let reader = try? AudioFileReader(path: path) else { return false }
    return reader.frames == frames && reader.headerRemark == nil && !reader.lacksEnd()
  }

  /// Whether something is at `path` that is neither empty nor has this mark, and so is somebody else's.
  func isMissing(in path: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    return !(status.st_mode & S_IFMT == S_IFREG && (status.st_size == 0 || isIn(path)))
  }

  private func isIn(_ path: String) -> Bool {
    BroadcastExtension.description(at: path)?.hasPrefix(start) == true
  }
}
