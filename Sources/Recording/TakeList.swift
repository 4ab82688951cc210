import AudioFiles
import Foundation

/// A take as its folder shows it.
public struct ListedTake: Encodable, Sendable {
  public enum State: String, Encodable, Sendable {
    case recording, complete, incomplete, repaired
    /// A crash cut it off; `pinna takes repair` finishes it.
    case cut
  }

  /// Of the outputs' file, as it is now.
  public let path: String
  public let state: State
  public let frames: Int
  public let sampleRate: Int
  public let channels: Int
  public var seconds: Double { Double(frames) / Double(max(1, sampleRate)) }
  public let started: String?
  public let preset: String?
  public let microphones: Bool
  /// Number of stretches.
  public let files: Int
  public let missing: [String]

  private enum Key: String, CodingKey {
    case path, state, frames, sampleRate, channels, seconds, started, preset, microphones, files, missing
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(path, forKey: .path)
    try container.encode(state, forKey: .state)
    try container.encode(frames, forKey: .frames)
    try container.encode(sampleRate, forKey: .sampleRate)
    try container.encode(channels, forKey: .channels)
    try container.encode(seconds, forKey: .seconds)
    try container.encodeIfPresent(started, forKey: .started)
    try container.encodeIfPresent(preset, forKey: .preset)
    try container.encode(microphones, forKey: .microphones)
    try container.encode(files, forKey: .files)
    try container.encode(missing, forKey: .missing)
  }
}

extension TakeFolder {
  /// The takes of this folder by name: oldest first, since names begin with the date. A folder that is not there has
  /// none.
  /// - Parameter unreadable: hears a sentence for each take that cannot be told of because its sidecar cannot be read.
  public func takes(unreadable: (String) -> Void = { _ in }) -> [ListedTake] {
    let names = self.names
    let sidecars =
      names.filter { $0.hasSuffix(".json") || $0.hasSuffix(".json.part") }.compactMap { name in
        do throws(TakeError) {
          return (name, try Sidecar.read("\(path)/\(name)"))
        } catch {
          // One that is being written may be read half.
          if let sound = sound(ofSidecar: name, among: names), !isBeingWritten(Self.stem(of: name) + ".wav") {
            unreadable(
              "\(error); the take's sound (\(path)/\(sound)) is untouched: put a copy of the sidecar in its place, or "
                + "move it away")
          }
          return nil
        }
      } as [(String, Sidecar)]
    let listed = sidecars.compactMap { name, sidecar in list(sidecar, isPart: name.hasSuffix(".part")) }
    let known = Set(
      sidecars.flatMap { $0.1.files.flatMap { [$0.outputs, $0.microphones].compactMap { $0 } } })
    // Whose sidecar is lost.
    let orphans = names.filter { name in
      name.hasSuffix(".wav.part") && !known.contains(String(name.dropLast(5)))
    }.compactMap { name -> ListedTake? in
      guard let file = try? CutFile(path: "\(path)/\(name.dropLast(5))") else { return nil }
      return ListedTake(
        path: "\(path)/\(name)",
        state: isBeingWritten(Self.first(of: String(name.dropLast(5)))) ? .recording : .cut,
        frames: file.frames, sampleRate: file.sampleRate,
        channels: file.channels, started: nil, preset: nil, microphones: false, files: 1, missing: [])
    }
    return (listed + orphans).sorted { $0.path < $1.path }
  }

  private func list(_ sidecar: Sidecar, isPart: Bool) -> ListedTake? {
    guard let first = sidecar.files.first else { return nil }
    let named = "\(path)/\(present(first.outputs))"
    var state = ListedTake.State(rawValue: sidecar.state.rawValue) ?? .complete
    var frames = sidecar.frames
    if isPart {
      state = isBeingWritten(first.outputs) ? .recording : .cut
      if let last = sidecar.files.last, let cut = try? CutFile(path: "\(path)/\(last.outputs)") {
        frames = last.frame + cut.frames
      }
    }
    let isNamed = access(named, F_OK) == 0
    guard isNamed || access(named + ".part", F_OK) == 0 else { return nil }
    return ListedTake(
      path: isNamed ? named : named + ".part", state: state, frames: frames, sampleRate: sidecar.sampleRate,
      channels: sidecar.channels, started: sidecar.started, preset: sidecar.setup.preset,
      microphones: first.microphones != nil, files: sidecar.files.count, missing: sidecar.missing)
  }

  /// In the order in which takes were made.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  /// What the names of all files of a take begin with, by the name of its sidecar.
  static func stem(of sidecar: String) -> String { sidecar.replacing(/\.json(\.part)?$/, with: "") }

  /// The first sound file of the take whose sidecar has the name `name`; nil where that is a file of somebody else's.
  func sound(ofSidecar name: String, among names: [String]) -> String? {
    let stem = Self.stem(of: name)
    return [".wav", ".wav.part", ".flac", ".opus"].map { stem + $0 }.first(where: names.contains)
  }

  /// Whether a Pinna holds the sidecar of the take of that outputs' file.
  func isBeingWritten(_ outputs: String) -> Bool {
    let stem = URL(filePath: "\(path)/\(outputs)").deletingPathExtension().path
    let descriptor = open(stem + ".json.part", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }
}
