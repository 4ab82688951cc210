import AudioFiles
import Glibc

/// The bytes of a description file. Only regular files up to `sizeLimit` are read, so reading cannot block.
struct DescriptionText {
  /// 256 KiB; realistic device files have a few KiB.
  static let sizeLimit = 256 << 10

  let file: String
  let bytes: [UInt8]

  /// Error messages call the text `file`.
  init(_ text: String, file: String) throws(DescriptionError) {
    self.file = file
    bytes = Self.withoutByteOrderMark(Array(text.utf8)[...])
    guard bytes.count <= Self.sizeLimit else { throw Self.tooLong(file) }
  }

  private static func tooLong(_ file: String) -> DescriptionError {
    DescriptionError(file: file, position: nil, message: "is longer than \(sizeLimit >> 10) KiB; shorten it")
  }

  init(path: String) throws(DescriptionError) {
    func failure(_ message: String) -> DescriptionError {
      DescriptionError(file: path, position: nil, message: message)
    }
    guard !path.utf8.contains(0) else { throw failure("cannot be read: the path contains a NUL; remove it") }
    // Non-blocking: opening a FIFO that has no writer would block otherwise.
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
    guard status.st_size <= Self.sizeLimit else { throw Self.tooLong(path) }
    ReadFiles.add(descriptor)
    var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress! + filled, $0.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw failure("cannot be read: \(String(cString: strerror(errno))); try again")
      }
      if count == 0 { break }
      filled += count
    }
    guard filled <= Self.sizeLimit else { throw Self.tooLong(path) }
    (file, self.bytes) = (path, Self.withoutByteOrderMark(bytes[..<filled]))
  }

  /// Some editors write a mark before a text in UTF-8, and YAML 1.2 allows it; libyaml takes it for a character here.
  private static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(bytes.starts(with: "\u{FEFF}".utf8) ? bytes.dropFirst(3) : bytes)
  }

  /// Whether a tab stands at `position`, or among the blanks before it in its line.
  func hasTab(before position: TextPosition) -> Bool {
    let lines = bytes.split(separator: 10, maxSplits: position.line, omittingEmptySubsequences: false)
    guard position.line <= lines.count else { return false }
    let start = lines[position.line - 1].prefix(position.column)
    return start.last == 9 || start.prefix { $0 == 9 || $0 == 32 }.contains(9)
  }

  /// The position of the byte at `offset`. Columns count characters (Unicode scalars), not bytes.
  func position(ofByte offset: Int) -> TextPosition {
    let before = bytes.prefix(offset)
    let line = before.split(separator: 10, omittingEmptySubsequences: false).last ?? []
    let newlines = before.lazy.filter { $0 == 10 }.count
    // UTF-8 continuation bytes have the form 10xxxxxx.
    let characters = line.lazy.filter { $0 & 0xC0 != 0x80 }.count
    return TextPosition(line: newlines + 1, column: characters + 1)
  }
}
