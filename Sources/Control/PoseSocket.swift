import Acoustics
import CSockets
import Glibc
import Messages
import Settings
import Text

/// The UDP socket of `--pose-port`. Head trackers and phones send their pose to it; nothing else is heard there, and
/// nobody is answered.
///
/// Thread: control thread. No function waits.
public final class PoseSocket {
  /// Whose poses count.
  package enum Trusted: Equatable {
    /// Those of programs of this user on this machine.
    case own
    case any
    /// Those from this host.
    case host(String)

    /// Nil for a word that is none of them, and no IP address.
    package init?(_ word: String) {
      switch word {
      case "own": self = .own
      case "any": self = .any
      default:
        guard let host = UDPAddress(word, port: 0)?.host else { return nil }
        self = .host(host)
      }
    }
  }

  private let socket: FileDescriptor
  /// The address and port that it listens on.
  package let address: UDPAddress
  /// Whether trackers send angles in radians.
  let isInRadians: Bool
  private let trusted: Trusted
  /// Packets that told no pose, or came from somebody else.
  package private(set) var droppedPackets = 0
  /// What the first packet since the last pose was, if it told none; nil if it was one.
  package private(set) var problem: String?
  /// Senders that were looked up, until when that counts.
  private var known: [UDPAddress: (isTrusted: Bool, end: ContinuousClock.Instant)] = [:]
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)

  var descriptor: Int32 { socket.number }

  /// - Parameters:
  ///   - host: an address in numbers.
  ///   - port: 0 for any free one.
  package init(
    host: String = "127.0.0.1", port: UInt16, isInRadians: Bool, from trusted: Trusted = .own
  ) throws(Failure) {
    self.isInRadians = isInRadians
    self.trusted = trusted
    guard trusted != .own || SenderUser.isKnown else {
      throw Failure(
        .failed,
        "this system does not tell whose poses come in (/proc/net/udp); add --pose-from any to take anybody's"
      )
    }
    guard let wanted = UDPAddress(host, port: port) else {
      throw Failure(
        .usage, "the address \(host.quoted) for poses is not usable; give an IP address in numbers")
    }
    do throws(UDPAddress.SystemReason) { socket = try wanted.boundSocket() } catch {
      throw Failure(
        .failed, "cannot listen for poses on \(wanted): \(error.text); choose another port with --pose-port")
    }
    address = UDPAddress(of: socket.number)
  }

  /// What to tell the operator at the start.
  package var announcement: String {
    let from =
      switch trusted {
      case .own: "your own programs on this machine"
      case .any: "anybody"
      case .host(let host): host
      }
    return "poses of head trackers over UDP on \(address), from \(from)"
  }

  /// The newest pose of at most 64 packets, so that a flood cannot keep the thread here; nil if none told one.
  package func newest(after present: TrackedPose) -> TrackedPose? {
    var newest: TrackedPose?
    for _ in 0..<64 {
      guard let packet = UDPAddress.receive(&buffer, through: descriptor) else { break }
      guard isTrusted(packet.sender) else {
        drop("\(packet.sender), which is \(strangeness(packet.sender)); to take its poses, add --pose-from")
        continue
      }
      guard let messages = try? OSCPacket.messages(in: packet.bytes, isCut: packet.isCut) else {
        drop("\(packet.sender), because they are not OSC; let the tracker send one of \(Self.paths)")
        continue
      }
      for (message, _) in messages {
        guard let pose = pose(message, after: newest ?? present) else {
          drop("\(packet.sender): \(Self.fault(of: message))")
          continue
        }
        newest = pose
        problem = nil
      }
    }
    return newest
  }

  private func drop(_ reason: String) {
    droppedPackets += 1
    problem = problem ?? "nothing follows the packets from \(reason)"
  }

  private static let paths = OSCMethod.all.compactMap { method in
    if case .pose = method.action, !method.path.hasPrefix("/pinna") { method.path } else { nil }
  }.joined(separator: ", ")

  /// Why a message is no pose.
  private static func fault(of message: OSCMessage) -> String {
    let path = message.path.printable(limit: 60)
    guard let method = OSCMethod.at(message.path), case .pose = method.action else {
      return "\(path) is no address of a pose; let the tracker send one of \(paths)"
    }
    return "\(path) takes \(method.arguments), as numbers"
  }

  private func isTrusted(_ sender: UDPAddress) -> Bool {
    switch trusted {
    case .any: return true
    case .host(let host): return sender.host == host
    case .own: break
    }
    let now = ContinuousClock.now
    if let found = known[sender], found.end > now { return found.isTrusted }
    if known.count >= 64 { known = [:] }
    let isTrusted = SenderUser.isOurs(sender)
    // The tables take a millisecond. A port may become somebody else's.
    known[sender] = (isTrusted, now + .seconds(1))
    return isTrusted
  }

  private func strangeness(_ sender: UDPAddress) -> String {
    if case .host(let host) = trusted { return "not \(host)" }
    return sender.isLoopback
      ? "of another user, or of a program that has ended" : "another machine, or another address of this one"
  }

  private func pose(_ message: OSCMessage, after present: TrackedPose) -> TrackedPose? {
    let words = message.words
    guard let method = OSCMethod.at(message.path), case .pose(let format) = method.action,
      method.accepts(words.count), let numbers = try? PoseFormat.numbers(words)
    else { return nil }
    let isOwn = format == .roll || format == .yaw
    return format.pose(numbers, isInRadians: isInRadians && !isOwn, present: present)
  }
}
