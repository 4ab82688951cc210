import Glibc

/// A file that somebody hands us, opened with limits: what is not a regular file is not waited for, and what is too
/// long is not read.
package final class InputFile {
  /// 1 GiB: more than any measurement that fits `ImpulseResponses.valueLimit`.
  package static let sizeLimit = 1 << 30

  let path: String
  let descriptor: Int32
  let size: Int

  /// - Parameter kind: what to give instead, for messages: "a WAV file".
  package init(path: String, kind: String, sizeLimit: Int = InputFile.sizeLimit) throws(DesignError) {
    guard !path.utf8.contains(0) else { throw DesignError("a path with a NUL cannot be read; give \(kind)") }
    // Non-blocking, so that a FIFO nobody writes to does not hold us up.
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    self.path = path
    guard descriptor >= 0 else {
      size = 0
      let reason = errno == ENOENT ? "there is no such file" : String(cString: strerror(errno))
      throw DesignError("\(path) cannot be read: \(reason); check its path and permissions")
    }
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    guard isRegular else { throw DesignError("\(path) is not a regular file; give \(kind)") }
    guard size > 0 else { throw DesignError("\(path) is empty; give \(kind)") }
    guard size <= sizeLimit else {
      throw DesignError("\(path) is longer than \(sizeLimit >> 20) MiB; give \(kind) that is shorter")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// All bytes, a block at a time, from the beginning.
  func forEachBlock(_ body: (UnsafeRawBufferPointer) -> Void) throws(DesignError) {
    var block = [UInt8](repeating: 0, count: 1 << 18)
    var offset = 0
    while offset < Self.sizeLimit {
      let got = block.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress!, $0.count, offset) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else {
        throw DesignError("\(path) cannot be read: \(String(cString: strerror(errno))); try again")
      }
      if got == 0 { return }
      block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
      offset += got
    }
  }

  func bytes() throws(DesignError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    try forEachBlock { bytes.append(contentsOf: $0) }
    return bytes
  }
}
