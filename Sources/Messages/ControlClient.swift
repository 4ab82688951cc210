import FoundationEssentials
import Glibc
import Settings
import Text

/// Sends requests to the running Pinna with a given name, each over a connection of its own.
///
/// Thread: any that may wait for an answer.
public struct ControlClient: Sendable {
  private let name: String
  private let environment: [String: String]

  /// - Parameter environment: the environment variables that determine the runtime folder.
  public init(name: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.name = name
    self.environment = environment
  }

  /// Sends `message` and waits for the answer.
  /// - Parameters:
  ///   - seconds: how long to wait for the answer, or for the next progress report.
  ///   - onProgress: receives progress, on the calling thread.
  ///   - onSent: called once Pinna has the request, before those that come later.
  /// - Throws: if there is no valid answer in time; at once if Pinna is killed meanwhile.
  public func request(
    _ message: OSCMessage, seconds: Double = 30, onProgress: (RequestProgress) -> Void = { _ in },
    onSent: () -> Void = {}
  ) throws(Failure) -> Answer {
    try request(
      message, through: try connect(seconds: seconds), seconds: seconds, onProgress: onProgress,
      onSent: onSent)
  }

  /// Stops the running Pinna and waits until another one can be started: its JACK client is closed and its name is
  /// free.
  /// - Throws: also if the name is not free within 5 s of the answer.
  public func stop(onProgress: (RequestProgress) -> Void = { _ in }) throws(Failure) -> Answer {
    let (path, server) = (try path, identity)
    let answer = try request(OSCMessage("/pinna/stop"), seconds: 3600, onProgress: onProgress)
    guard [.done, .incompleteTake].contains(answer.status) else { return answer }
    let deadline = ContinuousClock.now + .seconds(5)
    // Another Pinna with that name may have started already. The socket may go between two looks: one look must do.
    func hasSuccessor() -> Bool { identity.map { $0 != server } ?? false }
    while !hasSuccessor(), !RuntimeFolder.isFree(path) {
      guard .now < deadline else {
        throw Failure(
          .failed,
          "the Pinna named \(name.quoted) has stopped, but its process still holds the name; end that process, or "
            + "choose another name with --name")
      }
      usleep(5000)
    }
    return answer
  }

  private var path: String {
    get throws(Failure) { try RuntimeFolder.socket(named: name, environment: environment) }
  }

  /// Identifies the socket of one Pinna process, so that a successor is noticed; nil if none exists.
  private var identity: [Int]? {
    var file = stat()
    guard let path = try? path, stat(path, &file) == 0 else { return nil }
    return [Int(file.st_dev), Int(file.st_ino), file.st_mtim.tv_sec, file.st_mtim.tv_nsec]
  }

  /// Whether a process is listening at the control socket.
  var isThere: Bool { (try? path).map { isListening(at: $0) } ?? false }

  /// Connects to the running Pinna, which may be one that does not accept connections now.
  func connect(seconds: Double) throws(Failure) -> ControlConnection {
    let path = try path
    try RuntimeFolder.check(environment: environment)
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      let (socket, error) = PacketSocket.connect(to: path)
      if let socket {
        guard socket.isOurs else { throw notRunning }
        return ControlConnection(socket)
      }
      switch error {
      case EAGAIN:
        guard .now < deadline else { throw silent(seconds) }
        usleep(10_000)
      case EMFILE, ENFILE, ENOMEM, ENOBUFS:
        throw Failure(
          .failed, "cannot make a socket for the request: \(String(cString: strerror(error)))")
      default: throw notRunning
      }
    }
  }

  /// Sends `message` through `connection` and waits for the answer.
  func request(
    _ message: OSCMessage, through connection: ControlConnection, seconds: Double,
    onProgress: (RequestProgress) -> Void = { _ in }, onSent: () -> Void = {}
  ) throws(Failure) -> Answer {
    let patience = Duration.seconds(seconds)
    var deadline = ContinuousClock.now + patience
    // Without a number there is no progress.
    let number = "#1"
    let packet = message.numbered(number).packet
    guard packet.count <= OSCShape.longestPacket else {
      throw Failure(
        .usage,
        "the request is \(packet.count) bytes long; the limit is \(OSCShape.longestPacket) bytes, send less at once"
      )
    }
    sending: while true {
      switch connection.send(packet) {
      case .done: break sending
      case .ended: throw notRunning
      case .full:
        guard .now < deadline else { throw silent(seconds) }
        usleep(10_000)
      }
    }
    onSent()
    while true {
      switch connection.receive(until: deadline) {
      case .message(let message, let received):
        if message.path == Answer.path {
          guard received == number, let answer = Answer(message) else {
            throw .malformedReply("it is not an exit status and a text")
          }
          return answer
        }
        if let progress = RequestProgress(message) {
          deadline = .now + patience
          onProgress(progress)
        }
      case .nothing: throw silent(seconds)
      case .ended: throw ended
      }
    }
  }

  private var startCommand: String { "pinna run" + (name == "pinna" ? "" : " --name \(name)") }

  /// The failure when no Pinna is running. Names the runtime folder, because a Pinna of another user, or one started
  /// with another XDG_RUNTIME_DIR, uses a different one.
  package var notRunning: Failure {
    let folder = RuntimeFolder.path(environment: environment)
    if access(folder, X_OK) != 0, errno == EACCES {
      let reason = String(cString: strerror(EACCES))
      return Failure(
        .notRunning,
        "no Pinna named \(name.quoted) can be reached: \(folder) cannot be entered (\(reason)); run this command as "
          + "the user who runs Pinna, or set XDG_RUNTIME_DIR to a folder of your own")
    }
    if let path = try? path, RuntimeFolder.isBlocked(path) {
      let failure = RuntimeFolder.blocked(path)
      return Failure(.notRunning, "no Pinna named \"\(name)\" can be reached: \(failure.description)")
    }
    return Failure(
      .notRunning,
      "no Pinna named \(name.quoted) is running (looked in \(folder)); start one with: \(startCommand)")
  }

  private func silent(_ seconds: Double) -> Failure {
    Failure(
      .failed, "the Pinna named \(name.quoted) did not answer within \(Int(seconds)) s; look at its terminal")
  }

  private var ended: Failure {
    Failure(
      .notRunning,
      "the Pinna named \(name.quoted) ended before it answered; start it again with: \(startCommand)")
  }
}
