import Foundation

/// Talks to the running Pinna of a name.
///
/// Each request has a number that nobody can guess, and is answered by what carries it: from this user's processes
/// alone, at a socket in a folder that nobody else can enter.
///
/// Threads: any.
public struct ControlClient: Sendable {
  private let name: String
  private let environment: [String: String]

  /// - Parameter environment: says where its socket is.
  public init(name: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.name = name
    self.environment = environment
  }

  /// Sends `message` and waits for the answer: its exit status and its text, a JSON document where that is 0.
  /// - Parameters:
  ///   - seconds: how long to wait for the answer, or for the next word of progress.
  ///   - onProgress: hears how far it is, on the calling thread.
  /// - Throws: also within a second of the end of a Pinna that is killed meanwhile.
  public func request(
    _ message: OSCMessage, seconds: Double = 30, onProgress: (RequestProgress) -> Void = { _ in }
  ) throws(Failure) -> Answer {
    try request(
      message, through: try open(), number: OSCMessage.newNumber(), seconds: seconds, onProgress: onProgress)
  }

  /// Ends the running Pinna, and waits until another one can be started: the client in the graph is closed and the name is
  /// free.
  /// - Throws: also where the name is not free within five seconds of the answer.
  public func stop(onProgress: (RequestProgress) -> Void = { _ in }) throws(Failure) -> Answer {
    let (path, server) = (try path, identity)
    let answer = try request(OSCMessage("/pinna/stop"), seconds: 3600, onProgress: onProgress)
    guard [.done, .incompleteTake].contains(answer.status) else { return answer }
    let deadline = ContinuousClock.now + .seconds(5)
    // The next Pinna of that name may be there already.
    while identity == nil || identity == server, !SocketPlace.isFree(path) {
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

  /// A socket for requests, to which answers and, later, events come.
  func open() throws(Failure) -> ClientSocket {
    _ = try path
    try RuntimeFolder.check(environment: environment)
    guard access(RuntimeFolder.path(environment: environment), F_OK) == 0 else { throw notRunning }
    return try ClientSocket(environment: environment)
  }

  private var path: String {
    get throws(Failure) { try RuntimeFolder.socket(named: name, environment: environment) }
  }

  /// Tells the socket of one running Pinna from that of the next; nil where there is none.
  var identity: [Int]? {
    var file = stat()
    guard let path = try? path, stat(path, &file) == 0 else { return nil }
    return [Int(file.st_dev), Int(file.st_ino), file.st_mtim.tv_sec, file.st_mtim.tv_nsec]
  }

  /// Whether anybody listens there.
  var isThere: Bool {
    guard let path = try? path else { return false }
    return !hasGone { address in withSocketAddress(path, address) }
  }

  /// The same through a socket that stays open, with a number that the answer and later events end with.
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
        .usage, "a request of \(packet.count) bytes is too long; give at most \(OSCShape.longestPacket)")
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
      if let heard = socket.receive(within: slice) {
        if let answer = try answer(heard, to: number) { return answer }
        if heard.number == number, let progress = RequestProgress(heard.message) {
          deadline = .now + patience
          onProgress(progress)
        }
      } else if !isThere || identity != server {
        // Its last word may have come since.
        while let heard = socket.receive(within: .zero) {
          if let answer = try answer(heard, to: number) { return answer }
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

  /// - Throws: where it is an answer that no Pinna of this version gives.
  private func answer(_ heard: ClientSocket.Heard, to number: String) throws(Failure) -> Answer? {
    guard heard.message.path == Answer.path, heard.number == number || heard.number == nil else { return nil }
    guard heard.number == number, let answer = Answer(heard.message) else {
      throw .malformedReply("it is not an exit status and a text")
    }
    return answer
  }

  private var startCommand: String { "pinna run" + (name == "pinna" ? "" : " --name \(name)") }

  /// Names the folder: another user's Pinna, or one that was started with another XDG_RUNTIME_DIR, is in another.
  package var notRunning: Failure {
    let folder = RuntimeFolder.path(environment: environment)
    if access(folder, X_OK) != 0, errno == EACCES {
      return Failure(
        .notRunning,
        "no Pinna named \"\(name)\" can be reached: \(folder) cannot be entered (\(String(cString: strerror(EACCES)))); "
          + "ask as the user who runs it, or set XDG_RUNTIME_DIR to a folder of your own")
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
