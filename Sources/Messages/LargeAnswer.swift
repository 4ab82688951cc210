import CSockets
import Foundation

/// A packet that is too long for a datagram. It travels in a sealed memory file (memfd), whose descriptor is sent with
/// a short packet, the envelope (SCM_RIGHTS).
///
/// The envelope is an answer of status 1 with the request's number and a sentence about the file; to a client that does
/// not accept descriptors it is an ordinary error. The file contains the complete packet. Its seals prevent changes and
/// truncation.
///
/// Thread: any; a value.
package struct LargeAnswer {
  static let longest = 16 << 20

  package let envelope: OSCMessage
  package let file: Datagram.FileDescriptor
  package let size: Int

  /// Nil if the packet is longer than `longest`, or this process lacks memory or file descriptors.
  package init?(packet: [UInt8], number: String?) {
    guard packet.count <= Self.longest else { return nil }
    let made = pinna_sealed_file(packet, packet.count)
    guard made >= 0 else { return nil }
    file = Datagram.FileDescriptor(made)
    size = packet.count
    envelope = Answer(
      .failed,
      "the answer has \(packet.count) bytes, too many for one packet; read it from the file descriptor sent with this "
        + "packet (SCM_RIGHTS), or use the command line"
    ).message.numbered(number)
  }

  /// Reads the packet in a file that came with an envelope; nil if the file is not sealed or too long, or the packet
  /// malformed.
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
