import Glibc
import Text
import Threads

/// What this process tells the service manager that started it, by the protocol of sd_notify(3): datagrams to the socket that
/// NOTIFY_SOCKET names. Without one, or with one that is not read, nothing is told. Nothing waits.
///
/// Thread: any.
struct ServiceManager: Sendable {
  /// The bytes of `sun_path`; nil without a service manager.
  private let path: [UInt8]?

  /// Takes NOTIFY_SOCKET out of the environment: child processes must not speak for this one. Call it before any other
  /// thread is started.
  init() {
    path = getenv("NOTIFY_SOCKET").flatMap { Self.path(String(cString: $0)) }
    unsetenv("NOTIFY_SOCKET")
  }

  /// - Parameter name: an absolute path, or an abstract name after "@".
  private static func path(_ name: String) -> [UInt8]? {
    var bytes = Array(name.utf8)
    guard bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
      return nil
    }
    switch bytes[0] {
    case UInt8(ascii: "/"): bytes.append(0)
    case UInt8(ascii: "@"): bytes[0] = 0
    default: return nil
    }
    return bytes
  }

  func tell(status: String) { send("STATUS=\(status.printable)") }
  func tellStopping() { send("STOPPING=1\nSTATUS=stopping") }

  /// The unit counts as started from here on. While the socket is full, as it may be while a desktop starts, this is
  /// tried again in the background, for a minute.
  func tellReady(_ status: String) {
    let lines = "READY=1\nSTATUS=\(status.printable)"
    guard send(lines) == EAGAIN else { return }
    try? BackgroundThread.start("pinna notify") {
      for _ in 0..<600 where send(lines) == EAGAIN { usleep(100_000) }
    }
  }

  /// - Returns: 0, or why it was not sent, an `errno` value.
  @discardableResult private func send(_ lines: String) -> Int32 {
    guard let path else { return 0 }
    let type = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let socket = socket(AF_UNIX, Int32(type), 0)
    guard socket >= 0 else { return errno }
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + path.count
    let bytes = Array(lines.utf8)
    let count = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
      }
    }
    return count < 0 ? errno : 0
  }
}
