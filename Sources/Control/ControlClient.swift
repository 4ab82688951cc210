import Foundation

/// Talks to the running Pinna of a name.
public struct ControlClient: Sendable {
  private let name: String
  private let environment: [String: String]

  /// - Parameter environment: says where its socket is.
  public init(name: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.name = name
    self.environment = environment
  }

  /// Sends `message` and waits for the answer: its exit status and its text, a JSON document where that is 0.
  public func request(_ message: OSCMessage, seconds: Double = 30) throws(Failure) -> Answer {
    let descriptor = Self.boundSocket()
    defer { close(descriptor) }
    return try request(message, through: descriptor, seconds: seconds)
  }

  /// A socket bound to an address that the kernel picks, in no file system, so that answers find us.
  static func boundSocket() -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var own = sockaddr_un()
    own.sun_family = sa_family_t(AF_UNIX)
    let family = socklen_t(MemoryLayout<sa_family_t>.size)
    _ = withUnsafePointer(to: &own) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, family) }
    }
    return descriptor
  }

  /// Tells the socket of one running Pinna from that of the next; nil where there is none.
  var identity: [Int]? {
    var file = stat()
    guard let path = try? RuntimeFolder.socket(named: name, environment: environment), stat(path, &file) == 0
    else { return nil }
    return [Int(file.st_dev), Int(file.st_ino), file.st_mtim.tv_sec, file.st_mtim.tv_nsec]
  }

  /// Whether anybody listens there.
  var isThere: Bool {
    guard let path = try? RuntimeFolder.socket(named: name, environment: environment) else { return false }
    let probe = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    return withSocketAddress(path) { connect(probe, $0, $1) } == 0
  }

  /// The same through a socket that is bound, to which the answer and, later, events come.
  func request(_ message: OSCMessage, through descriptor: Int32, seconds: Double) throws(Failure) -> Answer {
    let path = try RuntimeFolder.socket(named: name, environment: environment)
    try RuntimeFolder.check(environment: environment)
    var patience = timeval(tv_sec: Int(seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let packet = message.packet
    guard
      withSocketAddress(path, { sendto(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL), $0, $1) })
        == packet.count
    else {
      let option = name == "pinna" ? "" : " --name \(name)"
      throw Failure(.notRunning, "no Pinna named \"\(name)\" is running; start one with: pinna run\(option)")
    }
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(seconds * 1000)) > 0 else {
      throw Failure(
        .failed, "the Pinna named \"\(name)\" did not answer within \(Int(seconds)) s; look at its terminal")
    }
    var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket + 4)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0, let answer = OSCMessage(packet: buffer.prefix(count)).flatMap(Answer.init) else {
      throw Failure(
        .failed, "the Pinna named \"\(name)\" gave an answer that is none; is it of another version?")
    }
    return answer
  }
}

/// What a running Pinna says to a request.
public struct Answer: Hashable, Sendable {
  public let status: ExitStatus
  /// A JSON document, or one sentence where the status is not 0.
  public let text: String

  public init(_ status: ExitStatus, _ text: String) {
    self.status = status
    self.text = text
  }

  static let path = "/pinna/reply"

  var message: OSCMessage { OSCMessage(Self.path, [.integer(status.rawValue), .string(text)]) }

  init?(_ message: OSCMessage) {
    guard message.path == Self.path, message.arguments.count == 2,
      case .integer(let code) = message.arguments[0], let status = ExitStatus(rawValue: code),
      case .string(let text) = message.arguments[1]
    else { return nil }
    self.init(status, text)
  }
}
