/// Push buttons of control surfaces. A button sends a number or a flag when it is pressed and when it is released, also
/// to methods without arguments, and after the arguments that it is set up with.
extension OSCMethod {
  /// The message without its button, and whether that was released. A release must have no effect.
  ///
  /// A number or flag is a button's if the method does not take it: one argument too many, or in place of a text.
  package func button(in message: OSCMessage) -> (message: OSCMessage, isReleased: Bool) {
    guard let isPressed = message.arguments.last?.isPressed else { return (message, false) }
    let count = message.arguments.count
    guard !accepts(count) || count == 1 && hasOptionalText else { return (message, false) }
    return (OSCMessage(message.path, Array(message.arguments.dropLast())), !isPressed)
  }
}

extension OSCMessage.Argument {
  /// The state of a button; nil for a text. Buttons that feel pressure send any number above 0.
  fileprivate var isPressed: Bool? {
    switch self {
    case .string: nil
    case .integer(let number): number > 0
    case .float(let number): number > 0
    case .flag(let isTrue): isTrue
    }
  }
}
