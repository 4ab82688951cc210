import Acoustics
import Messages
import Processor
import Recording
import Settings

/// What differs over UDP: subscriptions and feedback, no sessions, and no paths.
extension Controller {
  /// - Parameter words: the token, then optionally what to send, how many levels per second, and to which port. No port
  ///   is as low as a rate, so either may be left out.
  /// - Returns: how long the subscription lasts unless it is renewed.
  func subscribe(_ words: [String], _ sender: Sender) throws -> Outcome {
    let (udp, sender) = try subscriber(sender)
    let feedback = words.count > 1 ? try Feedback(word: words[1]) : .state
    let rates = SubscriberRegister.levelRates
    var numbers = words.dropFirst(2)
    let hasPort = numbers.count == 2 || numbers.first.map { Self.isPort($0, feedback) } ?? false
    let port = hasPort ? try Self.port(numbers.removeLast()) : nil
    let rate = try numbers.first.map { try Self.wholeNumber($0, of: "levels per second", in: rates) } ?? 10
    try udp.subscribe(sender, to: feedback, levelsPerSecond: rate, port: port)
    return .done(["seconds": SubscriberRegister.lifetime.components.seconds])
  }

  /// Whether a number that stands alone is a port rather than a rate.
  private static func isPort(_ text: String, _ feedback: Feedback) -> Bool {
    let lowest =
      feedback.hasLevels ? SubscriberRegister.ports.lowerBound : SubscriberRegister.levelRates.upperBound + 1
    return Double(text).map { $0 >= Double(lowest) } ?? false
  }

  private static func port(_ text: String) throws(Failure) -> UInt16 {
    let ports = SubscriberRegister.ports
    guard let port = Double(text).flatMap({ UInt16(exactly: $0) }), ports.contains(Int(port)) else {
      throw Failure(
        .usage,
        "feedback cannot go to port \(text); give the port on which you listen, from \(ports.lowerBound) to "
          + "\(ports.upperBound)")
    }
    return port
  }

  func unsubscribe(_ sender: Sender, _ request: Request) throws {
    let (udp, sender) = try subscriber(sender)
    // Only subscribers are answered.
    request.answer(.done(["seconds": 0]))
    udp.unsubscribe(sender)
  }

  private func subscriber(_ sender: Sender) throws(Failure) -> (UDPSocket, UDPSocket.Sender) {
    guard let udp, case .udp(let sender) = sender else {
      throw Failure(
        .usage,
        "subscriptions are for OSC over UDP, see pinna run --osc-port; at the Unix socket, open a session for its events"
      )
    }
    return (udp, sender)
  }

  /// Throws if a session is asked for over UDP: a session is bound to a socket that Pinna can hold.
  func refuseSessionOverUDP(_ sender: Sender) throws(Failure) -> ControlSocket.Sender {
    switch sender {
    case .local(let sender): return sender
    case .udp:
      throw Failure(
        .refused,
        "sessions are not available over UDP; open one at the Unix socket \(udp?.unixSocketPath ?? ""), or subscribe"
      )
    }
  }

  /// The take to start. Over UDP it goes to the standard folder.
  func takeRequest(_ words: [String], _ sender: Sender) throws -> TakeRequest {
    let request = try TakeRequest(words: words)
    if case .udp = sender, request.folder != nil {
      throw Failure(
        .refused,
        "a folder for takes cannot be given over UDP; leave it out, or use: pinna record start --dir DIR")
    }
    return request
  }

  /// Plays a take: over the Unix socket one at any path, over UDP one of that name in the takes folder.
  func play(_ word: String, _ sender: Sender, _ request: Request) throws {
    guard case .udp = sender else { return try processor.play(word, request) }
    guard TakeFolder.isFileName(word) else {
      throw Failure(
        .refused,
        "over UDP a take is given by its name in the takes folder, without a path; list the names with /pinna/takes"
      )
    }
    try lists.add("the takes folder", processor.world.path(ofTake: word), request) { [unowned self] path in
      try processor.play(path, request)
    }
  }
}

extension UDPSocket: RequestSource {
  func receive(_ controller: Controller) {
    guard let (message, sender) = receive() else { return }
    controller.receive(message.withFeedAsArgument, from: .udp(sender))
  }

  func serve(_ controller: Controller) {
    publish(state: controller.processor.stateMessages, levels: controller.processor.levelsMessages)
  }
}
