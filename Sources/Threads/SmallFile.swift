import Glibc

/// Small files whole. Those in /proc and /sys have no meaningful size: they are read until their end.
package enum SmallFile {
  /// The text of the file at `path`; nil if it cannot be opened or read. Bytes that are not UTF-8 become U+FFFD. Does not
  /// wait for what a pipe may bring.
  /// - Parameter limit: the number of bytes after which nothing is read.
  package static func text(_ path: String, limit: Int = .max) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return Descriptor.readAll(descriptor, limit: limit).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Files, pipes and sockets by their descriptors.
package enum Descriptor {
  /// What follows the present offset; nil if it cannot be read. Waits for the end of a pipe.
  /// - Parameter limit: the number of bytes after which nothing is read.
  package static func readAll(_ descriptor: Int32, limit: Int = .max) -> [UInt8]? {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < limit {
      let count = read(descriptor, &block, min(block.count, limit - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += block[..<count]
    }
    return bytes
  }

  /// Writes all of `bytes`. Waits for the reader of a pipe, also if another process that shares the descriptor has
  /// made it non-blocking.
  /// - Returns: whether all are written; `errno` tells why not.
  @discardableResult package static func writeAll(_ bytes: some Collection<UInt8>, to descriptor: Int32)
    -> Bool
  {
    let bytes = Array(bytes)
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
        continue
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }
}
