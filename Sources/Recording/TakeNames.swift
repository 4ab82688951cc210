import AudioFiles
import FoundationEssentials
import Glibc
import Threads

/// Takes by their names, for requests that may not give a path.
///
/// Thread: any that may wait for the disk; `isFileName` any.
extension TakeFolder {
  /// Whether `name` can only be a file in this folder itself.
  public static func isFileName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
      && !name.utf8.contains(0)
  }

  /// The path of the file `name` in this folder.
  /// - Throws: if the name is no file name, or there is no regular file of that name; links are not followed.
  public func path(ofTake name: String) throws(TakeError) -> String {
    let folder = OpenFolder(path: path)
    let file = Self.isFileName(name) ? folder?.open(name, O_RDONLY) ?? -1 : -1
    defer { if file >= 0 { close(file) } }
    var information = stat()
    guard file >= 0, fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw TakeError("there is no take \(name) in \(path); to list the takes, run: pinna takes list")
    }
    return "\(path)/\(name)"
  }

  /// The file names of the newest takes, newest first; of a take in several files the first.
  ///
  /// Names begin with the local time, which jumps with the clocks and on journeys. So sidecars say when a take began. Local
  /// times on earth differ by 26 h at most: a take whose name is older than that is not newer, and not read.
  /// - Parameter most: the most names.
  public func newestNames(_ most: Int) -> [String] {
    guard most > 0, let folder = OpenFolder(path: path) else { return [] }
    let names = Set(folder.names)
    let sidecars = names.filter { $0.hasSuffix(".json") || $0.hasSuffix(".json.part") }
    // Takes that were renamed come first.
    let dated = sidecars.map { (named: Date(takeTime: $0) ?? .distantFuture, sidecar: $0) }
      .sorted { ($0.named, $0.sidecar) > ($1.named, $1.sidecar) }
    var newest: [(start: Date, sound: String)] = []
    for take in dated {
      if newest.count >= most, take.named + 26 * 3600 < newest[most - 1].start { break }
      guard let sound = sound(ofTake: Self.stem(of: take.sidecar), among: names),
        !newest.contains(where: { $0.sound == sound })
      else { continue }
      let start = Self.start(readStart(of: take.sidecar, in: folder), name: take.sidecar)
      newest.insert(
        (start, sound), at: newest.firstIndex { ($0.start, $0.sound) < (start, sound) } ?? newest.count)
    }
    return newest.prefix(most).map(\.sound)
  }

  /// When a take began: by its sidecar, or else by its name; `distantPast` if neither says it.
  /// - Parameter started: from the sidecar.
  static func start(_ started: String?, name: some StringProtocol) -> Date {
    started.flatMap { Date(takeTime: $0) } ?? Date(takeTime: String(name)) ?? .distantPast
  }

  /// What a sidecar says of the take's beginning.
  private func readStart(of sidecar: String, in folder: OpenFolder) -> String? {
    struct Start: Decodable { let started: String? }
    let file = folder.open(sidecar, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = Descriptor.readAll(file, limit: Sidecar.sizeLimit) ?? []
    return (try? JSONDecoder().decode(Start.self, from: Data(bytes)))?.started
  }
}
