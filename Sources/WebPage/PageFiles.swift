import PageResources

/// The page's own files, which are compiled in. Any thread.
enum PageFiles {
  /// - Parameter path: of a request.
  /// - Returns: nil if there is no such file.
  static func response(_ path: String) -> PageResponse? {
    guard let file = page_file(path)?.pointee else { return nil }
    return .bytes(
      Array(UnsafeBufferPointer(start: file.bytes, count: Int(file.count))), type: String(cString: file.type))
  }
}
