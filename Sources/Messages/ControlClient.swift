import Foundation

/// Sends requests to the running Pinna with a given name.
///
/// Each request carries an unguessable number, which its answer repeats. Answers are accepted from this user's
/// processes only, at a socket in a folder that no other user can enter.
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
  /// - Throws: if there is no valid answer in time; within a second if Pinna is killed meanwhile.
  public func request(
    _ message: OSCMessage, seconds: Double = 30, onProgress: (RequestProgress) -> Void = { _ in }
  ) throws(Failure) -> Answer {
    try request(
      message, through: try open(), number: OSCMessage.newNumber(), seconds: seconds, onProgress: onProgress)
  }

  /// Stops the running Pinna and waits until another one can be started: its JACK client is closed and its name is
  /// free.
  /// - Throws: also if the name is not free within 5 s of the answer.
  public func stop(onProgress: (RequestProgress) -> Void = { _ in }) throws(Failure) -> Answer {
    let (path, server) = (try path, identity)
    let answer = try request(OSCMessage("/pinna/stop"), seconds: 3600, onProgress: onProgress)
    guard [.done, .incompleteTake].contains(answer.status) else { return answer }
    let deadline = ContinuousClock.now + .seconds(5)
    // Another Pinna with that name may have started already.
    while identity == nil || identity == server, !RuntimeFolder.isFree(path) {
      guard .now < deadline else {
        throw Failure(
          .failed,
          "the Pinna named \"\(name)\" has stopped, but its process still holds the name; end that process, or choose "
            + "another name with --name")
      }
      usleep(5000)
    }
    return answer
  }

  /// Makes a socket for requests. Answers, and the events of a session opened through it, arrive there.
  func open() throws(Failure) -> ClientSocket {
    _ = try path
    try RuntimeFolder.check(environment: environment)
    guard access(RuntimeFolder.path(environment: environment), F_OK) == 0 else { throw notRunning }
    return try ClientSocket(environment: environment)
  }

  private var path: String {
    get throws(Failure) { try RuntimeFolder.socket(named: name, environment: environment) }
  }

  /// Identifies the socket of one Pinna process, so that a successor is noticed; nil if none exists.
  var identity: [Int]? {
    var file = stat()
    guard let path = try? path, stat(path, &file) == 0 else { return nil }
    return [Int(file.st_dev), Int(file.st_ino), file.st_mtim.tv_sec, file.st_mtim.tv_nsec]
  }

  /// Whether a process is listening at the control socket.
  var isThere: Bool {
    guard let path = try? path else { return false }
    return !hasGone { address in withSocketAddress(path, address) }
  }

  /// Sends `message` through `socket` and waits for the answer.
  /// - Parameter number: repeated by the answer, by progress reports, and by the events of a session opened this way.
  func request(
    _ message: OSCMessage, through socket: ClientSocket, number: String, seconds: Double,
    onProgress: (RequestProgress) -> Void = { _ in }
  ) throws(Failure) -> Answer {
    let path = try path
    let patience = Duration.seconds(seconds)
    var deadline = ContinuousClock.now + patience
    let packet = message.numbered(number).packet
    guard packet.count <= OSCShape.longestPacket else {
      throw Failure(
        .usage,
        "the request is \(packet.count) bytes long; the limit is \(OSCShape.longestPacket) bytes, send less at once"
      )
    }
    let server = identity
    var isSent = false
    while true {
      if !isSent {
        switch socket.send(packet, to: path) {
        case .done: isSent = true
        case .gone: throw notRunning
        case .full: break
        }
      }
      let slice = isSent ? min(ClientSocket.slice, max(.zero, deadline - .now)) : .milliseconds(10)
      if let received = socket.receive(within: slice) {
        if let answer = try answer(received, to: number) { return answer }
        if received.number == number, let progress = RequestProgress(received.message) {
          deadline = .now + patience
          onProgress(progress)
        }
      } else if !isThere || identity != server {
        // The server may have answered just before it ended.
        while let received = socket.receive(within: .zero) {
          if let answer = try answer(received, to: number) { return answer }
        }
        throw isSent ? ended : notRunning
      }
      guard .now < deadline else {
        throw Failure(
          .failed, "the Pinna named \"\(name)\" did not answer within \(Int(seconds)) s; look at its terminal"
        )
      }
    }
  }

  /// The answer to request `number`; nil if the message is something else.
  /// - Throws: if the answer is malformed.
  private func answer(_ received: ClientSocket.ReceivedMessage, to number: String) throws(Failure) -> Answer?
  {
    guard received.message.path == Answer.path, received.number == number || received.number == nil else {
      return nil
    }
    guard received.number == number, let answer = Answer(received.message) else {
      throw .malformedReply("it is not an exit status and a text")
    }
    return answer
  }

  private var startCommand: String { "pinna run" + (name == "pinna" ? "" : " --name \(name)") }

  /// The failure when no Pinna is running. Names the runtime folder, because a Pinna of another user, or one started
  /// with another XDG_RUNTIME_DIR, uses a different one.
  package var notRunning: Failure {
    let folder = RuntimeFolder.path(environment: environment)
    if access(folder, X_OK) != 0, errno == EACCES {
      return Failure(
        .notRunning,
        "no Pinna named \"\(name)\" can be reached: \(folder) cannot be entered (\(String(cString: strerror(EACCES)))); "
          + "run this command as the user who runs Pinna, or set XDG_RUNTIME_DIR to a folder of your own")
    }
    return Failure(
      .notRunning,
      "no Pinna named \"\(name)\" is running (looked in \(folder)); start one with: \(startCommand)")
  }

  private var ended: Failure {
    Failure(
      .notRunning,
      "the Pinna named \"\(name)\" ended before it answered; start it again with: \(startCommand)")
  }
}
