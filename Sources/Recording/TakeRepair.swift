import AudioFiles
import Glibc

/// The result of repairing a take that a crash interrupted. A value; any thread.
public struct RepairedTake: Encodable, Sendable {
  /// Of its first file that is there.
  public internal(set) var path: String
  public var frames = 0
  /// Names of its files that were removed.
  public var removed: [String] = []
  /// Why it could not be finished; nil if it was. Its files are then unchanged, except those finished before the error.
  public var fault: String?
}

/// Repair of takes.
///
/// Thread: any that may wait for the disk.
extension TakeFolder {
  /// Finishes the takes that a crash interrupted. Every file is truncated to whole frames, and gets its header and its
  /// name. All files of a segment get the same length. Nothing is ever overwritten.
  ///
  /// Each file is locked before it is changed. Files that are being written are left alone, whatever a sidecar says.
  public func repair() -> [RepairedTake] {
    guard let folder = OpenFolder(path: path) else { return [] }
    let names = folder.names
    var stems: [String] = []
    var repaired: [RepairedTake] = []
    for name in names where name.hasSuffix(".json.part") {
      stems.append(Self.stem(of: name))
      repaired += [repair(sidecar: name, among: names, in: folder)].compactMap { $0 }
    }
    // Audio files whose sidecar was lost in a power failure.
    for name in names where name.hasSuffix(".wav.part") {
      let sound = String(name.dropLast(5))
      guard !stems.contains(where: { Self.isSound(sound, ofTake: $0) }) else { continue }
      var take = RepairedTake(path: "\(path)/\(sound)")
      do throws(AudioFileError) {
        let file = try UnfinishedWAVFile(folder: folder, name: sound, toFinish: true)
        if file.lock == .held { continue }
        try file.finish(frames: file.frames)
        take.frames = file.frames
      } catch {
        if isFinishedByAnother(name, in: folder) { continue }
        take.fault = error.description
      }
      repaired.append(take)
    }
    return repaired
  }

  /// Whether another program has finished the file meanwhile, or is about to: what went wrong with it is then no fault.
  /// - Parameter name: including `.part`.
  private func isFinishedByAnother(_ name: String, in folder: OpenFolder) -> Bool {
    !folder.contains(name) || isLocked(name, in: folder)
  }

  /// - Parameter name: name of a sidecar, including `.part`.
  /// - Returns: nil if there is nothing to repair: the take is being written, or the file is not a take's.
  private func repair(sidecar name: String, among names: [String], in folder: OpenFolder) -> RepairedTake? {
    let stem = Self.stem(of: name)
    let descriptor = folder.open(name, O_RDWR)
    let reason = errno
    var isOwned = false
    defer { if descriptor >= 0, !isOwned { close(descriptor) } }
    do throws(TakeError) {
      guard descriptor >= 0 || reason != EISDIR else {
        throw TakeError("\(path)/\(name) is not a regular file, so it cannot be a take's sidecar")
      }
      guard descriptor >= 0 else {
        throw TakeError("\(path)/\(name) cannot be read: \(String(cString: strerror(reason)))")
      }
      switch FileLock.acquire(descriptor) {
      // If it was replaced in the meantime, the take is being written.
      case .acquired: guard folder.has(name, as: descriptor) else { return nil }
      case .held: return nil
      case .unavailable(let reason):
        throw TakeError(
          "cannot tell whether \(path)/\(name) is being written: it cannot be locked (\(reason)); copy the take to "
            + "another disk and repair it there")
      }
      let sidecar = try Sidecar.read(descriptor, path: "\(path)/\(name)")
      try check(sidecar, named: name)
      isOwned = true
      let file = SidecarFile(repairing: descriptor, folder: folder, name: stem + ".json")
      return repair(sidecar, stem, file, in: folder)
    } catch {
      guard let sound = sound(ofSidecar: name, among: names),
        !isSoundBeingWritten(stem, among: names, in: folder), folder.contains(name)
      else { return nil }
      // Only the sidecar says which files belong together. Without it they would end at different frames.
      return RepairedTake(
        path: "\(path)/\(sound)",
        fault: "\(error); replace it with a copy, or move it away to have each file finished separately"
      )
    }
  }

  private func repair(_ old: Sidecar, _ stem: String, _ file: SidecarFile, in folder: OpenFolder)
    -> RepairedTake?
  {
    var sidecar = old
    sidecar.files = segments(of: old, stem: stem, in: folder)
    var result = RepairedTake(path: "\(path)/\(sidecar.files[0].first)")
    do {
      for n in sidecar.files.indices {
        guard let removed = try repair(&sidecar.files[n], in: folder) else { return nil }
        result.removed += removed
      }
      if let first = sidecar.files.flatMap(\.names).first(where: { !result.removed.contains($0) }) {
        result.path = "\(path)/\(first)"
      } else {
        throw TakeError("none of its files is there any more")
      }
      sidecar.missing += result.removed.map { "\($0), which was removed" }
      sidecar.frames = sidecar.files.reduce(0) { $0 + $1.frames }
      // These files have been finished by now.
      sidecar.missing.removeAll { $0.hasSuffix(AudioFileWriter.remedy) }
      if old.state == .recording {
        sidecar.missing.append("everything after frame \(sidecar.frames): a crash ended the take")
      }
      sidecar.state = .repaired
      try file.finish(sidecar, named: true)
      result.frames = sidecar.frames
    } catch {
      result.fault = String(describing: error)
    }
    return result
  }

  /// Finishes the files of one segment that are there.
  /// - Returns: the names of the others; nil if a file is being written.
  private func repair(_ files: inout Sidecar.Files, in folder: OpenFolder) throws(AudioFileError) -> [String]?
  {
    let old = files.names
    files.rename { currentName(of: $0, in: folder) }
    var cut: [UnfinishedWAVFile] = []
    var lengths: [Int] = []
    var removed: [String] = []
    for name in files.names {
      if folder.contains(name + ".part") {
        let file = try UnfinishedWAVFile(folder: folder, name: name, toFinish: true)
        if file.lock == .held { return nil }
        cut.append(file)
        lengths.append(file.frames)
      } else if !folder.contains(name) {
        removed.append(name)
      } else {
        // A file with its final name is complete.
        lengths.append(try AudioFileReader(folder: folder, name: name).frames ?? 0)
      }
    }
    files.frames = lengths.min() ?? files.frames
    for file in cut { try file.finish(frames: files.frames) }
    // Remove unfinished conversions.
    for name in old {
      for ending in TakeFormat.convertedEndings { folder.remove("\(name.dropLast(4)).\(ending).part") }
    }
    return removed
  }
}
