import FoundationEssentials
import Settings

/// The requests in a packet that arrived on a socket.
public enum OSCPacket {
  /// A message without its number, and the number; nil if it has none.
  public typealias NumberedMessage = (message: OSCMessage, number: String?)

  /// The messages of a packet: one message, or those of a bundle in their order.
  /// - Parameters:
  ///   - isCut: whether the packet was longer than `bytes`.
  ///   - now: the time that time tags are compared with.
  /// - Throws: why the packet is refused. A bundle is refused as a whole.
  public static func messages(
    in bytes: some Collection<UInt8>, isCut: Bool = false, now: Date = Date()
  ) throws(Failure) -> [NumberedMessage] {
    let bytes = Array(bytes)
    guard !isCut, let outline = OSCShape.outline(bytes) else { throw malformed }
    var messages: [NumberedMessage] = []
    for range in outline.messages {
      guard let message = OSCMessage(packet: bytes[range]) else { throw malformed }
      messages.append(message.split)
    }
    guard outline.timeTag <= timeTag(of: now) else {
      throw Failure(
        .usage,
        "the bundle is due in the future, but Pinna does not wait; send it when it is due, with the time tag 1 "
          + "(immediately)")
    }
    return messages
  }

  /// NTP time in 1/2³² s, as in a bundle.
  static func timeTag(of date: Date) -> UInt64 {
    let seconds = date.timeIntervalSince1970 + 2_208_988_800
    // Beyond 2036, NTP time begins again at 0.
    return UInt64(max(0, seconds.truncatingRemainder(dividingBy: 4_294_967_296)) * 4_294_967_296)
  }

  private static let malformed = Failure(
    .usage,
    "the packet is neither an OSC message of strings, numbers (i, f, h, d), T, F, N and I in at most "
      + "\(OSCShape.longestPacket) bytes nor a bundle of up to \(OSCShape.maxMessages) such messages; list the methods "
      + "with: pinna help --markdown methods")
}
