import AudioFiles
import Glibc

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

  /// The file names of the newest takes, newest first; of a take in several files the first. Reads no file.
  /// - Parameter most: the most names.
  public func newestNames(_ most: Int) -> [String] {
    guard let folder = OpenFolder(path: path) else { return [] }
    let names = Set(folder.names)
    // Names begin with the date.
    let sidecars = names.filter { $0.hasSuffix(".json") || $0.hasSuffix(".json.part") }
    let stems = Set(sidecars.map { Self.stem(of: $0) }).sorted(by: >)
    return Array(stems.lazy.compactMap { sound(ofTake: $0, among: names) }.prefix(most))
  }
}
