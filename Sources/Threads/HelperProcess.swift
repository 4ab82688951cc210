import Glibc

/// A child process that runs the program `pinna`, or the running program under another name. It isolates calls into
/// libraries that may hang, crash, or break when one of their threads is cancelled.
///
/// Requests and answers are packets on a socket, which is the child's standard input. The child ends when the socket is
/// closed.
package final class HelperProcess {
  private let socket: Int32
  private let process: ChildProcess

  /// Whether the running program answers the words of helper processes itself. Set it at the start of `main`, if ever.
  package nonisolated(unsafe) static var isThisProgram = false

  /// The running program, if it answers itself, or else `pinna` in its folder. A program that links PinnaSession finds
  /// `pinna` in the PATH.
  package static let program: String? = {
    var candidates: [String] = []
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count - 1)
    if length > 0 {
      let running = String(decoding: path[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
      if isThisProgram { candidates.append(running) }
      candidates.append(running.prefix(through: running.lastIndex(of: "/")!) + "pinna")
    }
    return candidates.first { access($0, X_OK) == 0 } ?? ChildProcess.path(ofProgram: "pinna")
  }()

  /// - Parameters:
  ///   - program: path of the program.
  ///   - words: its command-line arguments.
  /// - Returns: nil if there is no such program, or no process can be created.
  package init?(_ program: String? = program, words: [String]) {
    guard let program else { return nil }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
    defer { close(ends[1]) }
    guard let process = try? ChildProcess(program, words, input: ends[1]) else {
      close(ends[0])
      return nil
    }
    self.process = process
    socket = ends[0]
  }

  /// Sends a request and waits for the answer, without a timeout. Call it on a dedicated thread that nobody waits for.
  /// - Returns: nil if the process has ended.
  package func ask(_ request: [UInt8]) -> [UInt8]? {
    guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
    return Self.receive(socket)
  }

  /// Waits until the process ends, however it does, and for its exit; without a timeout. Call it on a dedicated thread,
  /// while no other asks.
  package func waitForEnd() {
    while Self.receive(socket) != nil {}
    process.waitUntilExit()
  }

  /// Ends the child process and waits for its exit.
  deinit {
    close(socket)
    process.waitUntilExit()
  }

  // MARK: - In the child process

  /// Answers requests until the parent closes the socket.
  package static func serve(_ answer: ([UInt8]) -> [UInt8]) {
    // Killed during a request, the child could leave a lock behind forever. Only the parent ends it.
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
    while let request = receive(STDIN_FILENO) {
      let bytes = answer(request)
      guard send(STDIN_FILENO, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return }
    }
  }

  private static let longestPacket = 4096

  /// The next packet; nil when the socket is closed. Packets are never empty.
  private static func receive(_ socket: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: longestPacket)
    while true {
      let count = recv(socket, &bytes, bytes.count, 0)
      if count > 0 { return Array(bytes[..<count]) }
      if count == 0 || errno != EINTR { return nil }
    }
  }
}
