import AudioFiles
import Foundation

/// What became of a take that a crash had cut off.
public struct RepairedTake: Encodable, Sendable {
  public let path: String
  public var frames = 0
  /// Why it could not be finished; nothing of it was changed then, or only what stands before.
  public var fault: String?
}

extension TakeFolder {
  /// Finishes what a crash left: every file gets its whole frames, its header and its name; files of one take keep the
  /// same frames. Nothing is ever overwritten. Files that somebody writes are left alone, whatever a sidecar says of
  /// them: each is locked before it is touched.
  public func repair() -> [RepairedTake] {
    guard let folder = OpenFolder(path: path) else { return [] }
    let names = folder.names
    var stems: Set<String> = []
    var repaired: [RepairedTake] = []
    for name in names where name.hasSuffix(".json.part") {
      stems.insert(Self.stem(of: name))
      repaired += [repair(sidecar: name, among: names, in: folder)].compactMap { $0 }
    }
    // What a power cut left of a take whose sidecar it took.
    for name in names where name.hasSuffix(".wav.part") {
      let sound = String(name.dropLast(5))
      guard !stems.contains(Self.stem(ofSound: sound)) else { continue }
      var take = RepairedTake(path: "\(path)/\(sound)")
      do throws(AudioFileError) {
        let file = try CutFile(folder: folder, name: sound, toFinish: true)
        if file.lock == .held { continue }
        try file.finish(frames: file.frames)
        take.frames = file.frames
      } catch {
        take.fault = error.description
      }
      repaired.append(take)
    }
    return repaired
  }

  /// - Parameter name: of a sidecar, with `.part`.
  /// - Returns: nil where there is nothing to repair: the take is being written, or is somebody else's file.
  private func repair(sidecar name: String, among names: [String], in folder: OpenFolder) -> RepairedTake? {
    let stem = Self.stem(of: name)
    let descriptor = folder.open(name, O_RDWR)
    let reason = errno
    var isOurs = false
    defer { if descriptor >= 0, !isOurs { close(descriptor) } }
    do throws(TakeError) {
      guard descriptor >= 0 || reason != EISDIR else {
        throw TakeError("\(path)/\(name) is not a file, as a take's sidecar is")
      }
      guard descriptor >= 0 else {
        throw TakeError("\(path)/\(name) cannot be read: \(String(cString: strerror(reason)))")
      }
      switch FileLock.take(descriptor) {
      // One that was replaced meanwhile is being written.
      case .taken: guard folder.has(name, as: descriptor) else { return nil }
      case .held: return nil
      case .unavailable(let reason):
        throw TakeError(
          "nothing says whether \(path)/\(name) is being written: it cannot be locked (\(reason)); copy the take to "
            + "another disk and repair it there")
      }
      let sidecar = try Sidecar.read(descriptor, path: "\(path)/\(name)")
      try check(sidecar, named: name)
      isOurs = true
      let file = SidecarFile(repairing: descriptor, folder: folder, name: stem + ".json")
      return repair(sidecar, stem, file, in: folder)
    } catch {
      guard let sound = sound(ofSidecar: name, among: names),
        !isSoundBeingWritten(stem, among: names, in: folder)
      else { return nil }
      // Without it nothing says which files belong together, and they would end at different frames.
      return RepairedTake(
        path: "\(path)/\(sound)",
        fault: "\(error); put a copy of it in its place, or move it away to have each file finished by itself"
      )
    }
  }

  private func repair(_ old: Sidecar, _ stem: String, _ file: SidecarFile, in folder: OpenFolder)
    -> RepairedTake?
  {
    var sidecar = old
    sidecar.files = stretches(of: old, stem: stem, in: folder)
    var result = RepairedTake(path: "\(path)/\(sidecar.files[0].outputs)")
    do {
      for n in sidecar.files.indices {
        guard try repair(&sidecar.files[n], in: folder) else { return nil }
      }
      sidecar.frames = sidecar.files.reduce(0) { $0 + $1.frames }
      // What could not be finished has been by now.
      sidecar.missing.removeAll { $0.hasSuffix(AudioFileWriter.remedy) }
      if old.state == .recording {
        sidecar.missing.append("what came after frame \(sidecar.frames): a crash cut the take off")
      }
      sidecar.state = .repaired
      try file.finish(sidecar, named: true)
      result = RepairedTake(path: "\(path)/\(sidecar.files[0].outputs)", frames: sidecar.frames)
    } catch {
      result.fault = String(describing: error)
    }
    return result
  }

  /// Finishes the files of one stretch.
  /// - Returns: false where somebody writes one of them.
  private func repair(_ files: inout Sidecar.Files, in folder: OpenFolder) throws(AudioFileError) -> Bool {
    let old = [files.outputs, files.microphones].compactMap { $0 }
    files.outputs = present(files.outputs, in: folder)
    files.microphones = files.microphones.map { present($0, in: folder) }
    var cut: [CutFile] = []
    var lengths: [Int] = []
    for name in [files.outputs, files.microphones].compactMap({ $0 }) {
      if folder.contains(name + ".part") {
        let file = try CutFile(folder: folder, name: name, toFinish: true)
        if file.lock == .held { return false }
        cut.append(file)
        lengths.append(file.frames)
      } else {
        // What has its name already is whole.
        lengths.append(try AudioFileReader(folder: folder, name: name).frames)
      }
    }
    files.frames = lengths.min() ?? 0
    for file in cut { try file.finish(frames: files.frames) }
    // What a conversion had begun.
    for name in old {
      for ending in ["flac", "opus"] { folder.remove("\(name.dropLast(4)).\(ending).part") }
    }
    return true
  }
}
