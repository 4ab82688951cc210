import CSockets
import Foundation

/// A packet that is too long for a datagram travels in a sealed file in memory (memfd), whose descriptor comes with a
/// short packet (SCM_RIGHTS).
///
/// The short packet is an answer of status 1 whose sentence says so, with the request's number: whoever takes no
/// descriptors reads it as the error that it is then. The file holds the long packet whole, from its first byte on, and
/// can be neither changed nor cut short.
struct LargeAnswer {
  static let longest = 16 << 20

  let envelope: OSCMessage
  let file: Datagram.FileDescriptor
  let size: Int

  /// Nil where the packet is longer than anybody takes, or this process has no room for it.
  init?(packet: [UInt8], number: String?) {
    guard packet.count <= Self.longest else { return nil }
    let made = pinna_sealed_file(packet, packet.count)
    guard made >= 0 else { return nil }
    file = Datagram.FileDescriptor(made)
    size = packet.count
    envelope = Answer(
      .failed,
      "the answer has \(packet.count) bytes, too many for one packet; take it from the open file that comes with this "
        + "one (SCM_RIGHTS), or ask with the command line"
    ).message.numbered(number)
  }

  /// The packet in a file that came with an envelope; nil where it is not sealed, is too long, or no message.
  static func open(_ file: Datagram.FileDescriptor) -> OSCMessage? {
    let size = pinna_sealed_size(file.number)
    guard size > 0, size <= longest else { return nil }
    let packet = [UInt8](unsafeUninitializedCapacity: Int(size)) { bytes, count in
      while count < bytes.count {
        let read = pread(file.number, bytes.baseAddress! + count, bytes.count - count, off_t(count))
        guard read > 0 else { return }
        count += read
      }
    }
    return OSCMessage(packet: packet, limit: longest)
  }
}
