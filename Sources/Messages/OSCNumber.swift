/// Request numbers, by which a sender matches answers to requests. A number is a string that begins with `#`, as the
/// last argument of a request. Progress, the answer, and the events of a session opened by the request repeat it. It is
/// not counted as an argument.
extension OSCMessage {
  /// In bytes; a longer string is an ordinary argument.
  static let longestNumber = 64

  /// The message without its number, and the number.
  var split: (message: OSCMessage, number: String?) {
    guard case .string(let text) = arguments.last, text.hasPrefix("#"), text.utf8.count <= Self.longestNumber
    else { return (self, nil) }
    return (OSCMessage(path, Array(arguments.dropLast())), text)
  }

  /// The message with `number` as its last argument.
  package func numbered(_ number: String?) -> OSCMessage {
    guard let number else { return self }
    return OSCMessage(path, arguments + [.string(number)])
  }
}
