import Acoustics
import CSockets
import Glibc
import Messages

/// The UDP socket of `--pose-port`. Head trackers and phones send their pose to it; nothing else is heard there, and
/// nobody is answered.
///
/// Thread: control thread. No function waits.
public final class PoseSocket {
  private let socket: FileDescriptor
  /// The address and port that it listens on.
  package let address: UDPAddress
  /// Whether trackers send angles in radians.
  let isInRadians: Bool
  /// Packets that told no pose.
  package private(set) var droppedPackets = 0
  private var buffer = [UInt8](repeating: 0, count: OSCShape.longestPacket)

  var descriptor: Int32 { socket.number }

  /// - Parameters:
  ///   - host: an address in numbers.
  ///   - port: 0 for any free one.
  public init(host: String = "127.0.0.1", port: UInt16, isInRadians: Bool) throws(Failure) {
    self.isInRadians = isInRadians
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

  /// The newest pose of at most 64 packets, so that a flood cannot keep the thread here; nil if none told one.
  package func newest(after present: TrackedPose) -> TrackedPose? {
    var newest: TrackedPose?
    for _ in 0..<64 {
      guard let packet = UDPAddress.receive(&buffer, through: descriptor) else { break }
      guard let messages = try? OSCPacket.messages(in: packet.bytes, isCut: packet.isCut) else {
        droppedPackets += 1
        continue
      }
      for (message, _) in messages {
        guard let pose = pose(message, after: newest ?? present) else {
          droppedPackets += 1
          continue
        }
        newest = pose
      }
    }
    return newest
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
