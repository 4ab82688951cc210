/// Answers that are too long for one packet: the text travels in parts, each a message `/pinna/part` text, directly
/// before the `/pinna/reply` with the rest of the text. All repeat the request's number.
extension Answer {
  static let partPath = "/pinna/part"
  /// The longest text of one message, in bytes.
  static let longestPart = 60_000
  /// The longest text of an answer, in bytes.
  static let longestText = 16 << 20

  /// The messages that carry this answer, in their order. A text beyond `longestText` is replaced by a sentence.
  package var messages: [OSCMessage] {
    let count = text.utf8.count
    guard count <= Self.longestText else {
      let sentence =
        "cannot send an answer of \(count) bytes; the limit is \(Self.longestText) bytes, ask for less"
      return [Answer(.failed, sentence).message]
    }
    var messages: [OSCMessage] = []
    var rest = Array(text.utf8)[...]
    while rest.count > Self.longestPart {
      // A part ends between two characters of Unicode, not before the further bytes of one.
      var end = rest.startIndex + Self.longestPart
      while rest[end] & 0xC0 == 0x80 { end -= 1 }
      messages.append(OSCMessage(Self.partPath, [.string(String(decoding: rest[..<end], as: UTF8.self))]))
      rest = rest[end...]
    }
    return messages + [Answer(status, String(decoding: rest, as: UTF8.self)).message]
  }
}

/// Joins the parts of the answers that arrive at one connection.
package struct AnswerParts {
  private var text = ""

  package init() {}

  /// - Returns: the message, an answer with its whole text; nil for a part. Text beyond the longest answer is dropped.
  package mutating func join(_ message: OSCMessage) -> OSCMessage? {
    if message.path == Answer.partPath {
      if let part = message.words.first, text.utf8.count + part.utf8.count <= Answer.longestText {
        text += part
      }
      return nil
    }
    guard !text.isEmpty, let last = Answer(message) else { return message }
    defer { text = "" }
    return Answer(last.status, text + last.text).message
  }
}
