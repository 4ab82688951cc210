import AudioFiles
import FoundationEssentials
import Glibc
import Settings
import Text
import Threads

/// A new title, other seats, or a change of one marker, of a take that has ended.
///
/// A value; any thread. `TakeFolder.edit` waits for the disk.
public enum TakeEdit: Sendable {
  /// Empty for none.
  case title(String)
  /// A marker at a place in seconds, pre-roll included: it renames the one that is listed there, or adds one. An empty
  /// label removes it.
  case marker(seconds: Double, label: String)
  /// Who sat where, in place of those of before.
  case seats([Seat])

  /// Whether sound files have it, too.
  var isInSound: Bool { if case .seats = self { false } else { true } }

  func apply(to sidecar: inout Sidecar) throws(TakeError) {
    switch self {
    case .title(let title):
      let line = try Sidecar.line(title, "a title")
      sidecar.title = line.isEmpty ? nil : line
    case .seats(let seats):
      // A feed that played one of those who sat there is rendered by all seats: where somebody else sits does not belong to it.
      let parts = ([sidecar.setup.first] + (sidecar.feeds ?? []).map(\.first)).compactMap { $0[.part]?.word }
      let present = (sidecar.setup.seats ?? []).compactMap { try? Seat(word: $0) }
      func places(_ seats: [Seat]) -> Set<String> {
        Set(seats.map { "\(parts.contains($0.name) ? $0.name : "") \($0.look.word)" })
      }
      let names = Set((present + seats).map(\.name)).intersection(parts)
      if let name = names.min(), places(seats) != places(present) {
        throw TakeError(
          "a feed of the take plays \(name.printable), found by the seats as they were; give others in them other "
            + "names, and leave the places: \(present.map(\.word.printable).joined(separator: " "))")
      }
      let words = seats.map(\.word)
      sidecar.setup.seats = words.isEmpty ? nil : words
    case .marker(let seconds, let label):
      let line = try Sidecar.line(label, "a marker's label")
      var markers = sidecar.markers ?? []
      let place = (seconds * Double(sidecar.sampleRate)).rounded()
      guard place >= 0, place <= Double(sidecar.frames) else {
        throw TakeError(
          "the take is \(Double(sidecar.frames) / Double(sidecar.sampleRate)) s long; give a place within it")
      }
      let frame = Int(place)
      // Lists show tenths of a second.
      let index = markers.indices.filter { abs(markers[$0].frame - frame) * 20 <= sidecar.sampleRate }
        .min { abs(markers[$0].frame - frame) < abs(markers[$1].frame - frame) }
      switch (index, line.isEmpty) {
      case (let index?, true): markers.remove(at: index)
      case (let index?, false): markers[index] = Sidecar.Marker(frame: markers[index].frame, label: line)
      case (nil, true): throw TakeError("there is no marker at that place to remove; see: pinna takes list")
      case (nil, false):
        guard markers.count < Sidecar.listLimit else {
          throw TakeError("a take can have at most \(Sidecar.listLimit) markers")
        }
        markers.insert(
          Sidecar.Marker(frame: frame, label: line),
          at: markers.firstIndex { $0.frame > frame } ?? markers.count)
      }
      sidecar.markers = markers.isEmpty ? nil : markers
    }
  }
}

/// A take after an edit. A value; any thread.
public struct EditedTake: Sendable {
  /// Path of the sidecar.
  public let path: String
  public let sidecar: Sidecar
  /// Names of the files that still have the title and the markers of before.
  public let unchanged: [String]
}

extension Sidecar {
  /// The longest label and title, in bytes.
  public static let longestText = 200

  /// `text` as a title or a label.
  /// - Parameter what: what it is, for messages.
  public static func line(_ text: String, _ what: String) throws(TakeError) -> String {
    let trimmed = text.trimmed()
    guard trimmed.utf8.count <= longestText else {
      throw TakeError("\(what) has at most \(longestText) bytes; shorten it")
    }
    guard !trimmed.unicodeScalars.contains(where: { $0.isControl || $0.isNewline }) else {
      throw TakeError("\(what) is one line without control characters; remove them")
    }
    return trimmed
  }

  /// The cues of a file of a segment.
  func cues(of files: Files) -> [WAVCue] {
    let isLast = files.frame == self.files.last?.frame
    return (markers ?? []).filter {
      $0.frame >= files.frame && (isLast || $0.frame < files.frame + files.frames)
    }.map { WAVCue(frame: min($0.frame - files.frame, files.frames), label: $0.label) }
  }
}

extension TakeFolder {
  /// Changes title, seats and markers of a take that has ended: in its sidecar, and in its WAV files what these have of it.
  /// - Parameter name: of its sidecar, or of one of its sound files.
  public func edit(_ name: String, _ edits: [TakeEdit]) throws(TakeError) -> EditedTake {
    guard Self.isFileName(name), let folder = OpenFolder(path: path) else {
      throw TakeError("there is no take \(name) in \(path); to list the takes, run: pinna takes list")
    }
    // A second edit waits, and then changes what the first one wrote. Without locks on the file system, nobody waits.
    guard FileLock.acquire(folder.descriptor, timeout: .seconds(5)) != .held else {
      throw TakeError("cannot edit \(name) in \(path): another edit there has not ended for 5 s; try again")
    }
    // The folder holds its lock until it is closed.
    defer { withExtendedLifetime(folder) {} }
    guard let found = try Sidecar.ofFile(at: "\(path)/\(name)") else {
      let names = folder.names
      let isUnfinished = names.contains { $0.hasSuffix(".json.part") && name.hasPrefix(Self.stem(of: $0)) }
      throw TakeError(
        isUnfinished
          ? "\(path)/\(name) is of a take that has not ended; stop it, or finish it with: pinna takes repair"
          : "\(path)/\(name) has no sidecar, so it is no take; to list the takes, run: pinna takes list")
    }
    var sidecar = found.sidecar
    try check(sidecar, named: found.stem + ".json")
    for edit in edits { try edit.apply(to: &sidecar) }
    let path = try replace(found.stem + ".json", by: sidecar.encoded(), in: folder)
    var unchanged: [String] = []
    for files in sidecar.files where edits.contains(where: \.isInSound) {
      let cues = sidecar.cues(of: files)
      for name in files.names where folder.contains(name) {
        if !WAVCues.replace(in: name, of: folder, cues, title: sidecar.title ?? "") { unchanged.append(name) }
      }
    }
    return EditedTake(path: path, sidecar: sidecar, unchanged: unchanged)
  }

  /// Replaces a sidecar as a whole.
  /// - Returns: its path.
  private func replace(_ name: String, by bytes: [UInt8], in folder: OpenFolder) throws(TakeError) -> String {
    let scratch = ".\(name)-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    let descriptor = folder.kind(of: name) == S_IFREG ? folder.create(scratch) : -1
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, Descriptor.writeAll(bytes, to: descriptor), fdatasync(descriptor) == 0,
      folder.rename(scratch, to: name) == 0
    else {
      let reason = String(cString: strerror(errno))
      if descriptor >= 0 { folder.remove(scratch, as: descriptor) }
      throw TakeError("cannot write \(path)/\(name): \(reason)")
    }
    return "\(path)/\(name)"
  }
}
