/// The request's number, by which a sender knows its answer: a string that begins with `#`, as the last argument of a
/// request. Everything that is said because of that request ends with it: progress, the answer, and the events of the
/// session that it opened. It does not count as an argument.
extension OSCMessage {
  /// In bytes; a longer string is an argument like any other.
  static let longestNumber = 64

  /// The message without its number, and the number.
  var split: (message: OSCMessage, number: String?) {
    guard case .string(let text) = arguments.last, text.hasPrefix("#"), text.utf8.count <= Self.longestNumber
    else { return (self, nil) }
    return (OSCMessage(path, Array(arguments.dropLast())), text)
  }

  func numbered(_ number: String?) -> OSCMessage {
    guard let number else { return self }
    return OSCMessage(path, arguments + [.string(number)])
  }

  /// One that nobody can guess.
  static func newNumber() -> String { "#" + String(UInt64.random(in: 0 ... .max), radix: 16) }
}
