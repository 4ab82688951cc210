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
  /// same frames. Takes that are being recorded are left alone, and nothing is ever overwritten.
  public func repair() -> [RepairedTake] {
    let names = self.names
    var done: Set<String> = []
    var repaired: [RepairedTake] = []
    for name in names where name.hasSuffix(".json.part") {
      do throws(TakeError) {
        let sidecar = try Sidecar.read("\(path)/\(name)")
        for files in sidecar.files { done.formUnion([files.outputs, files.microphones].compactMap { $0 }) }
        guard !isBeingWritten(sidecar.files[0].outputs) else { continue }
        repaired.append(repair(sidecar, named: String(name.dropLast(5))))
      } catch {
        guard let sound = sound(ofSidecar: name, among: names) else { continue }
        // Without it nothing says which files belong together, and they would end at different frames.
        let first = Self.stem(of: name) + ".wav"
        done.formUnion(names.map { String($0.dropLast(5)) }.filter { Self.first(of: $0) == first })
        guard !isBeingWritten(first) else { continue }
        repaired.append(
          RepairedTake(
            path: "\(path)/\(sound)",
            fault:
              "\(error); put a copy of it in its place, or move it away to have each file finished by itself")
        )
      }
    }
    // What a power cut left of a take whose sidecar it took.
    for name in names where name.hasSuffix(".wav.part") && !done.contains(String(name.dropLast(5))) {
      var take = RepairedTake(path: "\(path)/\(name.dropLast(5))")
      guard !isBeingWritten(Self.first(of: String(name.dropLast(5)))) else { continue }
      do {
        let file = try CutFile(path: take.path)
        try file.finish(frames: file.frames)
        take.frames = file.frames
      } catch {
        take.fault = error.description
      }
      repaired.append(take)
    }
    return repaired
  }

  /// The outputs' first file of the take that `name` belongs to.
  static func first(of name: String) -> String {
    name.replacing(/(_\d+)?(-microphones)?\.wav$/, with: ".wav")
  }

  /// The name that the WAV file `name` has by now: its conversion may have ended after the sidecar was written.
  func present(_ name: String) -> String {
    func isThere(_ name: String) -> Bool { access("\(path)/\(name)", F_OK) == 0 }
    guard !isThere(name), !isThere(name + ".part") else { return name }
    return ["flac", "opus"].map { "\(name.dropLast(4)).\($0)" }.first(where: isThere) ?? name
  }

  private func repair(_ old: Sidecar, named name: String) -> RepairedTake {
    var sidecar = old
    var result = RepairedTake(path: "\(path)/\(old.files[0].outputs)")
    do {
      for (n, files) in old.files.enumerated() {
        sidecar.files[n].outputs = present(files.outputs)
        sidecar.files[n].microphones = files.microphones.map(present)
        let paths = [sidecar.files[n].outputs, sidecar.files[n].microphones].compactMap { $0 }
          .map { "\(path)/\($0)" }
        let cut = try paths.filter { access($0 + ".part", F_OK) == 0 }.map { try CutFile(path: $0) }
        // What has its name already is whole.
        let named = try paths.filter { access($0 + ".part", F_OK) != 0 }.map {
          try AudioFileReader(path: $0).frames
        }
        let frames = (cut.map(\.frames) + named).min() ?? 0
        for file in cut { try file.finish(frames: frames) }
        // What a conversion had begun.
        for name in [files.outputs, files.microphones].compactMap({ $0 }) {
          for ending in ["flac", "opus"] { unlink("\(path)/\(name.dropLast(4)).\(ending).part") }
        }
        sidecar.files[n].frames = frames
      }
      sidecar.frames = sidecar.files.reduce(0) { $0 + $1.frames }
      sidecar.state = .repaired
      sidecar.missing.append("what came after frame \(sidecar.frames): a crash cut the take off")
      try finish(sidecar, named: name)
      result = RepairedTake(path: "\(path)/\(sidecar.files[0].outputs)", frames: sidecar.frames)
    } catch {
      result.fault = String(describing: error)
    }
    return result
  }

  private func finish(_ sidecar: Sidecar, named name: String) throws {
    let part = "\(path)/\(name).part"
    let descriptor = open(part, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    let bytes = sidecar.encoded()
    guard descriptor >= 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
      ftruncate(descriptor, off_t(bytes.count)) == 0, fdatasync(descriptor) == 0,
      FileNames.renameToFree(part, "\(path)/\(name)") == 0
    else { throw TakeError("cannot finish \(part): \(String(cString: strerror(errno)))") }
  }
}
