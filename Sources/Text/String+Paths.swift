extension String {
  /// The last component of a path, without slashes behind it; "/" of the root, empty if the path is.
  package var lastPathComponent: String {
    guard let last = split(separator: "/").last else { return isEmpty ? "" : "/" }
    return String(last)
  }

  /// The path without its last component: the folder's path without a slash at its end, "/" in the root, empty for a name
  /// alone.
  package var deletingLastPathComponent: String {
    func trimmed(_ path: Substring) -> Substring {
      path[
        ..<(path.utf8.lastIndex { $0 != UInt8(ascii: "/") }.map(path.utf8.index(after:)) ?? path.startIndex)]
    }
    let path = trimmed(self[...])
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return first == "/" ? "/" : "" }
    let folder = trimmed(path[..<slash])
    return folder.isEmpty ? "/" : String(folder)
  }
}
