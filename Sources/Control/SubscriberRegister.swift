import Acoustics
import Messages
import Processor
import Settings

/// What a subscriber is sent.
package enum Feedback: String, NamedWord {
  case state, levels, both

  package static let kind = "feedback"
  var hasState: Bool { self != .levels }
  var hasLevels: Bool { self != .state }
}

/// Who has subscribed to feedback over UDP, to what, and what was sent to whom.
///
/// A subscriber is an address. It is forgotten `lifetime` after its last subscription. Feedback goes there, or to
/// another port of that host: tablets listen elsewhere than they send from.
package struct SubscriberRegister {
  package struct Subscriber {
    package let address: UDPAddress
    /// Where feedback goes.
    package fileprivate(set) var destination: UDPAddress
    var feedback = Feedback.state
    /// Time between two levels.
    var levelInterval = Duration.zero
    var nextLevels = ContinuousClock.now
    var deadline = ContinuousClock.now
    /// The last message that was sent for each path.
    var sent: [String: OSCMessage] = [:]
  }

  package static let limit = 16
  package static let lifetime = Duration.seconds(10)
  /// Levels per second.
  package static let levelRates = 1...30
  /// Ports that feedback may go to. Others belong to the system's services.
  package static let ports = 1024...65535

  package private(set) var subscribers: [Subscriber] = []

  package init() {}

  /// Adds an address, or renews its subscription with other feedback. A new subscriber of the state, and one that
  /// listens elsewhere than before, has been sent nothing.
  /// - Parameter port: the port of that host that feedback goes to; nil for the address itself.
  package mutating func subscribe(
    _ address: UDPAddress, to feedback: Feedback, levelsPerSecond: Int, port: UInt16? = nil,
    now: ContinuousClock.Instant
  ) throws(Failure) {
    removeExpired(now)
    let n = subscribers.firstIndex { $0.address == address } ?? subscribers.count
    if n == subscribers.count {
      guard n < Self.limit else {
        throw Failure(
          .failed,
          "\(Self.limit) addresses have subscribed already; end one of them with /pinna/unsubscribe, or wait until one has "
            + "not renewed its subscription for \(Self.lifetime.components.seconds) s")
      }
      subscribers.append(Subscriber(address: address, destination: address, nextLevels: now))
    }
    let destination = port.map(address.with(port:)) ?? address
    if destination != subscribers[n].destination { subscribers[n].sent = [:] }
    subscribers[n].destination = destination
    subscribers[n].feedback = feedback
    subscribers[n].levelInterval = .seconds(1) / levelsPerSecond
    subscribers[n].deadline = now + Self.lifetime
    if !feedback.hasState { subscribers[n].sent = [:] }
  }

  package mutating func unsubscribe(_ address: UDPAddress) { subscribers.removeAll { $0.address == address } }

  package func contains(_ address: UDPAddress, at now: ContinuousClock.Instant) -> Bool {
    subscribers.contains { $0.address == address && $0.deadline >= now }
  }

  /// Where feedback for `address` goes; nil if it has not subscribed.
  func destination(of address: UDPAddress) -> UDPAddress? {
    subscribers.first { $0.address == address }?.destination
  }

  package mutating func removeExpired(_ now: ContinuousClock.Instant) {
    subscribers.removeAll { $0.deadline < now }
  }

  var wantsState: Bool { subscribers.contains(where: \.feedback.hasState) }

  /// When the next levels are due; nil if nobody wants them.
  package var nextLevels: ContinuousClock.Instant? {
    subscribers.filter(\.feedback.hasLevels).map(\.nextLevels).min()
  }

  /// Sends each subscriber of the state what differs from what it was sent before.
  /// - Parameter send: returns false if the message should be sent again later.
  package mutating func publish(state: [OSCMessage], send: (OSCMessage, UDPAddress) -> Bool) {
    for n in subscribers.indices where subscribers[n].feedback.hasState {
      for message in state where subscribers[n].sent[message.path] != message {
        if send(message, subscribers[n].destination) { subscribers[n].sent[message.path] = message }
      }
    }
  }

  /// Sends the levels to those for whom they are due. Levels that cannot be sent are skipped.
  package mutating func publish(
    levels: [OSCMessage], now: ContinuousClock.Instant, send: (OSCMessage, UDPAddress) -> Bool
  ) {
    for n in subscribers.indices
    where subscribers[n].feedback.hasLevels && subscribers[n].nextLevels <= now {
      for message in levels { _ = send(message, subscribers[n].destination) }
      // After a pause, missed levels are not made up for.
      subscribers[n].nextLevels =
        max(subscribers[n].nextLevels, now - subscribers[n].levelInterval / 2)
        + subscribers[n].levelInterval
    }
  }
}
