import Acoustics
import AudioFiles
import Glibc
import Settings
import Threads

/// A take as listed by `pinna takes list`. A value; any thread.
public struct ListedTake: Encodable, Sendable {
  public enum State: String, Encodable, Sendable {
    case recording, complete, incomplete, repaired
    /// A crash interrupted the take; `pinna takes repair` finishes it.
    case cut
  }

  /// The present path of the first file: main's, if main was recorded.
  public let path: String
  public let state: State
  public let frames: Int
  public let sampleRate: Int
  /// Of that file.
  public let channels: Int
  public var seconds: Double { Double(frames) / Double(max(1, sampleRate)) }
  public let started: String?
  /// The name of the Pinna that recorded it; nil if the sidecar does not say.
  public let pinna: String?
  public let preset: String?
  public let microphones: Bool
  public let title: String?
  /// Who sat where, as `Seat.word`.
  public let seats: [String]
  /// Names of the feeds that it has, `main` among them; empty if the sidecar is lost.
  public let feeds: [String]
  public let markers: [Marker]
  /// Number of segments.
  public let files: Int
  public let missing: [String]

  public struct Marker: Encodable, Sendable {
    public let frame: Int
    public let seconds: Double
    public let label: String
  }

  private enum Key: String, CodingKey {
    case path, state, frames, sampleRate, channels, seconds, started, pinna, preset, microphones, title,
      seats, feeds, markers, files, missing
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
    try container.encodeIfPresent(pinna, forKey: .pinna)
    try container.encodeIfPresent(preset, forKey: .preset)
    try container.encode(microphones, forKey: .microphones)
    try container.encodeIfPresent(title, forKey: .title)
    if !seats.isEmpty { try container.encode(seats, forKey: .seats) }
    try container.encode(feeds, forKey: .feeds)
    try container.encode(markers, forKey: .markers)
    try container.encode(files, forKey: .files)
    try container.encode(missing, forKey: .missing)
  }
}

/// Listing of takes.
///
/// Thread: any that may wait for the disk.
extension TakeFolder {
  /// The takes of this folder, in the order in which they began: the oldest first. A folder that does not exist has none.
  /// - Parameters:
  ///   - comparesSound: whether the microphones' files are compared with what was recorded, which reads parts of them;
  ///     their lengths always are.
  ///   - unreadable: called with one sentence for each take that is omitted because its sidecar cannot be read.
  public func takes(comparingSound comparesSound: Bool = false, unreadable: (String) -> Void = { _ in })
    -> [ListedTake]
  {
    guard let folder = OpenFolder(path: path) else { return [] }
    let names = folder.names
    var listed: [ListedTake] = []
    var listedSounds: Set<String> = []
    for name in names where name.hasSuffix(".json") || name.hasSuffix(".json.part") {
      let stem = Self.stem(of: name)
      do throws(TakeError) {
        let sidecar = try readSidecar(name, in: folder)
        let segments = segments(of: sidecar, stem: stem, in: folder)
        listedSounds.formUnion(segments.flatMap(\.names))
        if let take = list(
          sidecar, segments,
          comparingSound: comparesSound,
          isWritten: name.hasSuffix(".part") ? isBeingWritten(stem, among: names, in: folder) : nil,
          in: folder)
        {
          listed.append(take)
        }
      } catch {
        guard let sound = sound(ofSidecar: name, among: names),
          !isBeingWritten(stem, among: names, in: folder)
        else {
          continue
        }
        unreadable(
          "\(error); the take's sound (\(path)/\(sound)) is untouched: replace the sidecar with a copy, or move it away"
        )
      }
    }
    // Takes whose sidecar is lost.
    for name in names where name.hasSuffix(".wav.part") && !listedSounds.contains(String(name.dropLast(5))) {
      guard let file = try? UnfinishedWAVFile(folder: folder, name: String(name.dropLast(5)), toFinish: false)
      else {
        continue
      }
      listed.append(
        ListedTake(
          path: "\(path)/\(name)", state: file.lock == .held ? .recording : .cut,
          frames: file.frames, sampleRate: file.sampleRate,
          channels: file.channels, started: nil, pinna: nil, preset: nil, microphones: false, title: nil,
          seats: [], feeds: [],
          markers: [], files: 1, missing: []))
    }
    let dated = listed.map { (Self.start($0.started, name: $0.path.split(separator: "/").last ?? ""), $0) }
    return dated.sorted { ($0.0, $0.1.path) < ($1.0, $1.1.path) }.map(\.1)
  }

  /// - Parameter isWritten: whether the take is being written; nil if its sidecar has its final name.
  private func list(
    _ sidecar: Sidecar, _ segments: [Sidecar.Files], comparingSound comparesSound: Bool, isWritten: Bool?,
    in folder: OpenFolder
  ) -> ListedTake? {
    guard let first = segments.first else { return nil }
    // The first that is there: some may have been removed.
    let places = first.names.map { (name: $0, now: currentName(of: $0, in: folder)) }
    guard
      let (name, named) = places.first(where: { folder.contains($0.now) || folder.contains($0.now + ".part") }
      )
    else { return nil }
    var state = ListedTake.State(rawValue: sidecar.state.rawValue) ?? .complete
    var frames = sidecar.frames
    if let isWritten {
      state = isWritten ? .recording : .cut
      if let last = segments.last,
        let cut = try? UnfinishedWAVFile(folder: folder, name: last.first, toFinish: false)
      {
        frames = last.frame + cut.frames
      }
    }
    let isNamed = folder.contains(named)
    var missing = sidecar.missing
    if isWritten == nil, let fault = fault(of: sidecar, segments, comparesSound, in: folder) {
      missing.append(fault)
      state = .incomplete
    }
    let feed = first.feeds?.first { $0.value == name }?.key
    let channels =
      if let feed { sidecar.feeds?.first { $0.name == feed }?.channels.count ?? 0 } else {
        name == first.outputs ? sidecar.channels : sidecar.setup.microphones.count
      }
    return ListedTake(
      path: "\(path)/\(named)" + (isNamed ? "" : ".part"), state: state, frames: frames,
      sampleRate: sidecar.sampleRate,
      channels: channels,
      started: sidecar.started,
      pinna: sidecar.setup.pinna, preset: sidecar.setup.preset, microphones: first.microphones != nil,
      title: sidecar.title, seats: sidecar.setup.seats ?? [],
      feeds: (first.outputs == nil ? [] : [FeedSetting.main])
        + (sidecar.feeds ?? []).map(\.name).filter { first.feeds?[$0] != nil },
      markers: (sidecar.markers ?? []).map {
        ListedTake.Marker(
          frame: $0.frame, seconds: Double($0.frame) / Double(max(1, sidecar.sampleRate)), label: $0.label)
      },
      files: segments.count,
      missing: missing)
  }

  /// How a file of a take that ended differs from what was recorded; nil if those that are there do not.
  private func fault(
    of sidecar: Sidecar, _ segments: [Sidecar.Files], _ comparesSound: Bool, in folder: OpenFolder
  ) -> String? {
    for own in segments {
      let feeds = (own.feeds ?? [:]).map { feed, name in
        (name, sidecar.feeds?.first { $0.name == feed }?.channels.count ?? 0)
      }
      for (name, channels) in [(own.outputs, sidecar.channels)] + feeds.sorted(by: { $0.0 < $1.0 }) {
        guard let name, folder.contains(name) else { continue }
        if let fault = sidecar.fault(of: "\(path)/\(name)", in: own, channels: channels) { return fault }
      }
    }
    return sidecar.fault(ofMicrophonesIn: path + "/", comparingSound: comparesSound)
  }

  /// The sidecar, with the present names of a take that ended and was renamed.
  /// - Throws: `TakeError`, also if the sidecar lists files of another take.
  func readSidecar(_ name: String, in folder: OpenFolder) throws(TakeError) -> Sidecar {
    var sidecar = try Sidecar.read("\(path)/\(name)")
    if name.hasSuffix(".json") {
      sidecar = sidecar.renamed(to: Self.stem(of: name), isThere: folder.contains)
    }
    try check(sidecar, named: name)
    return sidecar
  }

  func check(_ sidecar: Sidecar, named name: String) throws(TakeError) {
    guard let foreignFile = sidecar.foreignFile(stem: Self.stem(of: name)) else { return }
    throw TakeError("\(path)/\(name) lists \(foreignFile), which is not a file of its take")
  }

  /// The segments listed in a sidecar, and those that began after it was last written.
  func segments(of sidecar: Sidecar, stem: String, in folder: OpenFolder) -> [Sidecar.Files] {
    var all = sidecar.files
    guard sidecar.state == .recording else { return all }
    func isThere(_ name: String) -> Bool { [name, name + ".part"].contains(where: folder.contains) }
    while let last = all.last {
      var next = Sidecar.Files.names(of: sidecar, stem: stem, segment: all.count)
      if last.microphones == nil { next.microphones = nil }
      // Its files are created one after another.
      next.omit { !isThere($0) }
      guard next.outputs != nil || next.feeds != nil else { break }
      // The segment grew after the sidecar was last written.
      all[all.count - 1].frames = length(of: last.first, in: folder) ?? last.frames
      next.frame = last.frame + all[all.count - 1].frames
      all.append(next)
    }
    return all
  }

  private func length(of name: String, in folder: OpenFolder) -> Int? {
    if let file = try? AudioFileReader(folder: folder, name: name) { return file.frames }
    return (try? UnfinishedWAVFile(folder: folder, name: name, toFinish: false))?.frames
  }

  /// The present name of the WAV file `name`, which may have been converted after the sidecar was last written.
  func currentName(of name: String, in folder: OpenFolder) -> String {
    guard !folder.contains(name), !folder.contains(name + ".part") else { return name }
    return TakeFormat.convertedEndings.map { "\(name.dropLast(4)).\($0)" }.first(where: folder.contains)
      ?? name
  }

  /// The common prefix of a take's file names, from the name of its sidecar.
  static func stem(of sidecar: String) -> String { sidecar.replacing(/\.json(\.part)?$/, with: "") }

  /// Whether a WAV file has a name that only a file of this take can have.
  /// - Parameter stem: the common prefix of the take's file names.
  static func isSound(_ name: String, ofTake stem: String) -> Bool {
    guard name.hasPrefix(stem) else { return false }
    // A feed's name begins with a letter.
    return name.dropFirst(stem.count).wholeMatch(of: /(_\d+)?(-[A-Za-z][A-Za-z0-9]*)?\.wav/) != nil
  }

  /// The first audio file of the take whose sidecar is `name`. Nil if there is none; `name` is then not a take's
  /// sidecar.
  func sound(ofSidecar name: String, among names: [String]) -> String? {
    sound(ofTake: Self.stem(of: name), among: Set(names))
  }

  /// The first audio file of the take whose file names begin with `stem`; nil if there is none.
  func sound(ofTake stem: String, among names: Set<String>) -> String? {
    let endings = ["wav", "wav.part"] + TakeFormat.convertedEndings
    if let main = endings.map({ "\(stem).\($0)" }).first(where: names.contains) { return main }
    // Main was not recorded.
    return names.filter { name in
      guard name.hasPrefix(stem + "-"), let end = name.dropFirst(stem.count).firstIndex(of: ".") else {
        return false
      }
      return endings.contains { name[name.index(after: end)...] == $0 }
        && FeedSetting.isName(String(name[..<end].dropFirst(stem.count + 1)))
    }.min()
  }

  /// Whether a program holds the lock of the take's sidecar, or of one of its unfinished audio files.
  func isBeingWritten(_ stem: String, among names: [String], in folder: OpenFolder) -> Bool {
    isLocked(stem + ".json.part", in: folder) || isSoundBeingWritten(stem, among: names, in: folder)
  }

  func isSoundBeingWritten(_ stem: String, among names: [String], in folder: OpenFolder) -> Bool {
    names.contains {
      $0.hasSuffix(".wav.part") && Self.isSound(String($0.dropLast(5)), ofTake: stem)
        && isLocked($0, in: folder)
    }
  }

  func isLocked(_ name: String, in folder: OpenFolder) -> Bool {
    let descriptor = folder.open(name, O_RDONLY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return FileLock.probe(descriptor) == .held
  }
}
