import FoundationEssentials
import Glibc
import Threads

/// Whether a file belongs to a take. No verb replaces such a file: what it holds cannot be recorded again.
///
/// Thread: any; waits for the disk.
enum TakeFile {
  /// What a sidecar says of its files, as far as it matters here.
  private struct Listed: Decodable {
    struct Files: Decodable {
      let outputs: String?
      let feeds: [String: String]?
      let microphones: String?
    }
    struct Setup: Decodable { let microphones: [String] }

    let files: [Files]
    let setup: Setup
  }

  private static let sidecarLimit = 64 << 20
  private static let soundEndings = ["wav"] + Compression.allCases.map(\.rawValue)

  /// Why the file at `path` must stay, continuing its name: "belongs to the take t.json". Nil if it belongs to none.
  ///
  /// A sidecar in its folder may list it, also before it was renamed with its take. Or the file says itself that Pinna
  /// recorded it, wherever it is now. Of a sound file with several names (hard links), the others cannot be found.
  static func claim(on path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let real = realpath(path, nil) else {
      return nil
    }
    defer { free(real) }
    let whole = String(cString: real)
    let end = whole.lastIndex(of: "/")!
    let (folder, name) = (String(whole[...end]), String(whole[whole.index(after: end)...]))
    if let sidecar = sidecar(of: name, status, in: folder) {
      return "belongs to the take of \(folder)\(sidecar)"
    }
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    if listed(file) != nil { return "is the sidecar of a take" }
    let start = Chunks.bytes(file, at: 0, count: 4)
    guard ["RIFF", "RF64", "fLaC", "OggS"].contains(String(decoding: start, as: UTF8.self)) else {
      return nil
    }
    if BroadcastExtension.read(at: path)?.isRecording == true { return "is a recording of Pinna's" }
    return status.st_nlink > 1 ? "has other names (hard links), by which it may belong to a take" : nil
  }

  /// The name of the sidecar in `folder` that lists a file.
  /// - Parameter status: of the file, which may have another name there.
  private static func sidecar(of name: String, _ status: stat, in folder: String) -> String? {
    let all = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    return all.first { other in
      guard other.hasSuffix(".json") || other.hasSuffix(".json.part"), other != name else { return false }
      let file = open(folder + other, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
      guard file >= 0 else { return false }
      defer { close(file) }
      guard let listed = listed(file) else { return false }
      return names(in: listed, of: other).contains { own in
        if own == name { return true }
        var there = stat()
        return stat(folder + own, &there) == 0 && there.st_ino == status.st_ino
          && there.st_dev == status.st_dev
      }
    }
  }

  private static func listed(_ file: Int32) -> Listed? {
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      (2...sidecarLimit).contains(Int(status.st_size)),
      Chunks.bytes(file, at: 0, count: 64).first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
      let bytes = Descriptor.readAll(file, limit: sidecarLimit)
    else { return nil }
    return try? JSONDecoder().decode(Listed.self, from: Data(bytes))
  }

  /// The names that a take's files have by its sidecar, and would have beside it if the take was renamed as a whole.
  private static func names(in listed: Listed, of sidecar: String) -> Set<String> {
    let end = sidecar.hasSuffix(".part") ? ".json.part".count : ".json".count
    let stem = String(sidecar.dropLast(end))
    var names: Set<String> = []
    for (n, files) in listed.files.enumerated() {
      let base = n == 0 ? stem : "\(stem)_\(n + 1)"
      let feeds = files.feeds ?? [:]
      names.formUnion([files.outputs, files.microphones].compactMap(\.self) + feeds.values)
      let own =
        (files.outputs == nil ? [] : [base]) + feeds.keys.map { "\(base)-\($0)" }
        + (files.microphones == nil ? [] : ["\(base)-microphones"])
      names.formUnion(own.flatMap { name in soundEndings.map { "\(name).\($0)" } })
    }
    return names.union(names.map { $0 + ".part" })
  }
}
