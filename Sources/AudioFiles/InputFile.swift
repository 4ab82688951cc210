import Glibc

/// A user's input file, open for reading. Only regular files up to a size limit are accepted, so reading cannot block.
package final class InputFile {
  /// 1 GiB, more than the size of any measurement that is read.
  package static let sizeLimit = 1 << 30

  package let path: String
  package let descriptor: Int32
  package let size: Int

  /// - Parameters:
  ///   - kind: the expected kind of file, for messages: "a WAV file".
  ///   - sizeLimit: maximum size in bytes.
  /// - Throws: `AudioFileError` if the file cannot be opened, is not a regular file, is empty or is too large.
  package init(path: String, kind: String, sizeLimit: Int = InputFile.sizeLimit) throws(AudioFileError) {
    guard !path.utf8.contains(0) else {
      throw AudioFileError("a path with a NUL cannot be read; give \(kind)")
    }
    // Non-blocking: opening a FIFO that has no writer would block otherwise.
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    self.path = path
    guard descriptor >= 0 else {
      size = 0
      let reason = errno == ENOENT ? "there is no such file" : String(cString: strerror(errno))
      throw AudioFileError("\(path) cannot be read: \(reason); check its path and permissions")
    }
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = Int(status.st_size)
    guard isRegular else { throw AudioFileError("\(path) is not a regular file; give \(kind)") }
    ReadFiles.add(descriptor)
    guard size > 0 else { throw AudioFileError("\(path) is empty; give \(kind)") }
    guard size <= sizeLimit else {
      throw AudioFileError("\(path) is larger than \(sizeLimit >> 20) MiB; give \(kind) that is smaller")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Calls `body` with the whole content, block by block.
  package func forEachBlock(_ body: (UnsafeRawBufferPointer) -> Void) throws(AudioFileError) {
    var block = [UInt8](repeating: 0, count: 1 << 18)
    var offset = 0
    while offset < Self.sizeLimit {
      let count = block.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress!, $0.count, offset) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw AudioFileError("\(path) cannot be read: \(String(cString: strerror(errno))); try again")
      }
      if count == 0 { return }
      block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
  }

  /// The whole content.
  package func bytes() throws(AudioFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    try forEachBlock { bytes.append(contentsOf: $0) }
    return bytes
  }
}
