import Glibc

/// The bytes of a description file, read with limits: what is not a regular file is not waited for, and what
/// is too long is not read.
struct DescriptionText {
  /// 256 KiB; the longest sensible device file has a few.
  static let sizeLimit = 256 << 10

  let file: String
  let bytes: [UInt8]

  init(file: String, bytes: [UInt8]) {
    self.file = file
    self.bytes = bytes
  }

  init(path: String) throws(DescriptionError) {
    func failure(_ message: String) -> DescriptionError {
      DescriptionError(file: path, place: nil, message: message)
    }
    guard !path.utf8.contains(0) else { throw failure("cannot be read: a path has no NUL; check its name") }
    // Non-blocking, so that a FIFO nobody writes to does not hold us up.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else {
      let reason = errno == ENOENT ? "there is no such file" : String(cString: strerror(errno))
      throw failure("cannot be read: \(reason); check its path and permissions")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw failure("is not a regular file; give a YAML file")
    }
    let tooLong = failure("is longer than \(Self.sizeLimit >> 10) KiB; shorten it")
    guard status.st_size <= Self.sizeLimit else { throw tooLong }
    var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
    var filled = 0
    while filled < bytes.count {
      let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + filled, $0.count - filled) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw failure("cannot be read: \(String(cString: strerror(errno))); try again") }
      if got == 0 { break }
      filled += got
    }
    guard filled <= Self.sizeLimit else { throw tooLong }
    self.init(file: path, bytes: Array(bytes[..<filled]))
  }

  /// The place of the byte at `offset`, with columns counted in characters.
  func place(ofByte offset: Int) -> TextPlace {
    let before = bytes.prefix(offset)
    let line = before.split(separator: 10, omittingEmptySubsequences: false).last ?? []
    let newlines = before.lazy.filter { $0 == 10 }.count
    // Continuation bytes of UTF-8 begin with 10.
    let characters = line.lazy.filter { $0 & 0xC0 != 0x80 }.count
    return TextPlace(line: newlines + 1, column: characters + 1)
  }
}
