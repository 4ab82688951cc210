import Settings

extension OSCMessage {
  /// The message that sets one value of a feed, or of `main`.
  package init(set key: SettingKey, of feed: String, to value: String) {
    let owner = feed == FeedSetting.main ? "/pinna" : "/pinna/feed/\(feed)"
    self.init("\(owner)/set/\(key.rawValue)", [.string(value)])
  }

  /// The message for `/pinna/feed/set` that one to `/pinna/feed/NAME/set` or `/pinna/feed/NAME/set/SETTING` stands for;
  /// any other as it is.
  package var withFeedAsArgument: OSCMessage {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard (5...6).contains(parts.count), parts[1] == "pinna", parts[2] == "feed", parts[4] == "set" else {
      return self
    }
    // A look has two numbers.
    let value =
      parts.last == SettingKey.look.rawValue && arguments.count == 2
      ? [.string(words.joined(separator: ","))] : arguments
    return OSCMessage(OSCMethod.feedSet, [.string(parts[3])] + parts.dropFirst(5).map { .string($0) } + value)
  }
}

extension SettingValue {
  package var argument: OSCMessage.Argument {
    switch self {
    case .number(let number): .float(Float(number))
    case .flag(let isOn): .integer(isOn ? 1 : 0)
    case .off, .word, .words, .look: .string(word)
    }
  }
}
