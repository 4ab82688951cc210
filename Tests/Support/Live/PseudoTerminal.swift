import Foundation

/// A terminal whose other end is in a test's hands, and is read only when the test does so.
public final class PseudoTerminal {
  private let controller: Int32
  /// The path of the end that a program opens.
  public let path: String

  public init() throws {
    // Swift's Glibc has neither posix_openpt nor ptsname.
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (isLocked, number): (Int32, Int32) = (0, -1)
    guard controller >= 0, ioctl(controller, Self.setLock, &isLocked) == 0,
      ioctl(controller, Self.getNumber, &number) == 0
    else { throw SupportError("there is no pseudo-terminal: \(String(cString: strerror(errno)))") }
    path = "/dev/pts/\(number)"
  }

  /// TIOCSPTLCK and TIOCGPTN, which Swift does not import.
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  deinit { close(controller) }

  public func resize(width: Int, height: Int) {
    var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// The terminal's modes: whether it echoes, edits lines, and what else programs change.
  public var modes: [tcflag_t] {
    var modes = termios()
    tcgetattr(controller, &modes)
    return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
  }

  public func press(_ keys: String) { _ = keys.withCString { write(controller, $0, strlen($0)) } }

  /// Whether the terminal takes no more bytes.
  public var isFull: Bool {
    let end = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    defer { close(end) }
    var request = pollfd(fd: end, events: Int16(POLLOUT), revents: 0)
    return end >= 0 && poll(&request, 1, 0) == 0
  }

  /// The bytes that were written to the terminal and not read; the kernel counts at most its own buffer.
  public var unread: Int {
    var count: Int32 = 0
    return ioctl(controller, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }

  /// Reads the bytes that the program has written so far.
  public func read() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: unread)
    let count = Glibc.read(controller, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
