import Acoustics
import AudioFiles
import Messages
import Realtime
import Settings
import Text

/// The definition of one command. Parsing, --help, the manual page and the table in docs/control.md use it.
struct Verb: Sendable {
  struct Option: Sendable {
    let name: String
    /// Placeholder of the value, in capitals; nil for a flag. In brackets, a choice of words that may be left out.
    let value: String?
    let help: String
    /// Whether its value may be left out.
    var isOptional: Bool { value?.hasPrefix("[") ?? false }

    /// Whether a word is a value that may be left out: one of a choice, or decibels.
    func takes(_ word: String) -> Bool {
      value == "[DB]"
        ? word.decimal(unit: "dB") != nil
        : value?.dropFirst().dropLast().split(separator: "|").contains { $0 == word } ?? false
    }

    init(_ name: String, _ value: String? = nil, _ help: String) {
      self.name = name
      self.value = value
      self.help = help
    }
  }

  /// One or two words, such as "run" or "preset use".
  let name: String
  /// Positional arguments as shown by --help. Those in brackets are optional.
  var operands: [String] = []
  /// Whether its operands are text, such as a title: they may be empty, and a tilde in them is a tilde.
  var takesText = false
  /// An option with which it takes any number of operands, and how it is then used.
  var many: (option: String, usage: String)?
  /// Whether "-" as an operand is standard input or output.
  var takesStandardStreams = false
  /// Whether it says on standard error that it still works. Not if it runs until it is stopped.
  var showsProgress = true
  let summary: String
  var options: [Option] = []
  let action: @Sendable (Arguments) throws -> ExitStatus

  static let nameOption = Option("--name", "NAME", "the running Pinna to talk to (default: pinna)")
  static let isaOption = Option(
    "--isa", "SET", "instruction set: baseline, v3 or v4 (default: the fastest of this processor)")
  /// The options of settings, with what is said behind each.
  static func settingOptions(_ keys: [SettingKey], _ remark: String = "") -> [Option] {
    keys.map { Option("--" + $0.rawValue, $0.row.placeholder, $0.row.help + remark) }
  }

  /// The same of what is as the preset says.
  /// - Parameter talkers: what `--talkers` does without a level.
  static func options(_ keys: [SettingKey], talkers: String) -> [Option] {
    settingOptions(keys, " (default: the preset's)").map {
      $0.name == "--talkers" ? Option($0.name, "[DB]", $0.help + "; without a level: " + talkers) : $0
    }
  }

  static let seatOption = Option(
    "--seat", Seat.placeholder,
    "who sits there, in degrees from the front: names the talker who is nearest; may be given several times")

  static let helpOption = Option("--help", nil, "show this text")
  static let forceOption = Option("--force", nil, "replace files of these names; those of takes stay")
  static let jsonOption = Option("--json", nil, "print one JSON document")

  var help: String {
    let start = "pinna \(name)" + (options.isEmpty ? "" : " [options]")
    let usage =
      (["usage: \(start)"] + operands).joined(separator: " ")
      + (many.map { "\n       \(start) \($0.usage)" } ?? "")
    let shown = options + [Self.helpOption]
    let rows = shown.map { ([$0.name, $0.value].compactMap { $0 }.joined(separator: " "), $0.help) }
    let width = rows.map(\.0.count).max()!
    let lines = rows.map { "  " + $0.0.padded(width) + "  " + $0.1 }
    return "\(summary)\n\n\(usage)\n\n" + lines.joined(separator: "\n")
  }
}

/// The parsed words after a verb.
struct Arguments {
  /// The values of each option, in the order typed.
  var options: [String: [String]] = [:]
  var flags: Set<String> = []
  var operands: [String] = []

  /// The last value of `option`; nil if it was not given.
  subscript(_ option: String) -> String? { options[option]?.last }
  /// The members of an option that takes a list with commas, and may be given several times.
  func list(_ option: String) -> [String] { options[option, default: []].flatMap(\.listed) }
  /// Whether a flag, or an option with a value, was given.
  func has(_ name: String) -> Bool { flags.contains(name) || options[name] != nil }

  var name: String { self["--name"] ?? "pinna" }
  var isJSON: Bool { flags.contains("--json") }

  /// Pairs of word and value of those options that are given, as `pinna set` takes them.
  func pairs(of words: [String]) -> [String] {
    words.flatMap { word in self["--" + word].map { [word, $0] } ?? [] }
  }

  /// Prints `json` with --json, and otherwise `text`.
  func print(json: @autoclosure () -> JSONObject, text: @autoclosure () -> String) {
    if isJSON { Tool.say(json: json().text) } else { Tool.say(text()) }
  }

  /// Refuses options that make sense with --live only.
  func refuseWithoutLive(_ options: String...) throws(Failure) {
    for option in options where has(option) && !has("--live") {
      throw Failure(.usage, "\(option) needs --live; add --live, or remove \(option)")
    }
  }

  /// - Throws: a usage failure if an option is unknown, a value is missing or unexpected, or the operands do not match.
  init(_ words: [String], of verb: Verb) throws(Failure) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == Self.endOfOptions {
        operands += rest
        break
      }
      guard word.hasPrefix("-"), word.count > 1 else {
        operands.append(verb.takesText ? word : try Self.withHome(word))
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = Self.long[parts[0]] ?? parts[0]
      guard let option = (verb.options + [Verb.helpOption]).first(where: { $0.name == name }) else {
        let known = (verb.options + [Verb.helpOption]).map(\.name)
        throw Failure(
          .usage,
          "pinna \(verb.name) has no option \(parts[0].printable(limit: 40))\(didYouMean(parts[0], among: known)); use "
            + "one of: "
            + known.joined(separator: ", ")
            + (verb.operands.isEmpty ? "" : "; write \(Self.endOfOptions) before what is no option"))
      }
      if option.value == nil {
        guard parts.count == 1 else {
          throw Failure(
            .usage,
            "\(option.name) takes no value, but got \(parts[1].quoted); write \(option.name), or leave it out"
          )
        }
        flags.insert(option.name)
      } else if parts.count == 2 {
        try add(parts[1], to: option)
      } else if option.isOptional {
        if let next = rest.first, option.takes(next) {
          try add(rest.removeFirst(), to: option)
        } else {
          flags.insert(option.name)
        }
      } else if let value = rest.popFirst() {
        try add(value, to: option)
      } else {
        throw Failure(.usage, "\(option.name) needs a value: \(option.name) \(option.value!)")
      }
    }
    if !verb.takesText, let empty = zip(verb.operands, operands).first(where: { $1.isEmpty }) {
      throw Failure(.usage, "\(empty.0) of pinna \(verb.name) is empty; see: pinna \(verb.name) --help")
    }
    let required = verb.operands.count { !$0.hasPrefix("[") }
    let isMany = verb.many.map { has($0.option) } ?? false
    guard isMany || (required...verb.operands.count).contains(operands.count) else {
      let expected =
        verb.operands.isEmpty ? "takes no operands" : "takes \(verb.operands.joined(separator: " "))"
      throw Failure(.usage, "pinna \(verb.name) \(expected); see: pinna \(verb.name) --help")
    }
    try refuseStandardStreams(verb)
  }

  /// Refuses "-" as a file: elsewhere it means standard input or output.
  private func refuseStandardStreams(_ verb: Verb) throws(Failure) {
    let values = verb.options.flatMap { option in
      (options[option.name] ?? []).map { (option.value ?? "", $0) }
    }
    let operands = verb.takesStandardStreams ? [] : Array(zip(verb.operands, operands))
    for (placeholder, word) in operands + values
    where word == "-" && Self.isPath(placeholder) {
      throw Failure(
        .usage,
        "pinna \(verb.name) does not take - (standard input or output) as \(placeholder); give a file's name, or ./- for a "
          + "file of that name")
    }
  }

  /// Whether a placeholder stands for a file or a folder.
  private static func isPath(_ placeholder: String) -> Bool {
    let word = placeholder.filter { $0 != "[" && $0 != "]" }
    return word.contains(".") || ["BANK", "DEVICE", "DIR", "FILE", "FOLDER", "TAKE"].contains(word)
  }

  /// The word after which everything is an operand, also what begins with a hyphen.
  static let endOfOptions = "--"

  private mutating func add(_ value: String, to option: Verb.Option) throws(Failure) {
    guard !value.isEmpty else {
      throw Failure(
        .usage, "\(option.name) is empty; give \(option.name) \(option.value!), or leave it out")
    }
    options[option.name, default: []].append(try Self.withHome(value))
  }

  /// Expands a leading tilde. Shells do not expand one that is quoted or that follows "="; taken literally, it would
  /// create a folder named "~".
  private static func withHome(_ word: String) throws(Failure) -> String {
    guard word.hasPrefix("~") else { return word }
    guard word == "~" || word.hasPrefix("~/"), let home = HomeFolder.path() else {
      throw Failure(
        .usage, "\(word) is not usable; give the path in full, or put ./ in front for a file of that name")
    }
    return home + word.dropFirst()
  }

  private static let long = ["-n": "--name", "-s": "--server"]

  /// The value of `option` as a whole number within `range`; nil if it was not given.
  func integer(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    try integers(option, in: range).last
  }

  /// All values of an option that may be given several times.
  func integers(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> [Int] {
    var numbers: [Int] = []
    for text in options[option] ?? [] {
      guard let number = Int(text), range.contains(number) else {
        throw Failure(
          .usage,
          "\(option) \(text.printable(limit: 40)) is not usable; give a whole number from \(range.lowerBound) to "
            + "\(range.upperBound)")
      }
      numbers.append(number)
    }
    return numbers
  }
}

extension Arguments {
  /// The instruction set of `--isa`, or else the fastest of this processor.
  func instructionSet() throws(Failure) -> InstructionSet {
    guard let word = self["--isa"] else { return .best }
    let known = InstructionSet.allCases.map(\.rawValue).joined(separator: ", ")
    guard let set = InstructionSet(rawValue: word) else {
      throw Failure(.usage, "unknown instruction set \(word.quoted); use one of: \(known)")
    }
    guard set.isAvailable else {
      let available = InstructionSet.available.map(\.rawValue).joined(separator: ", ")
      throw Failure(.unsupported, "this processor does not support \(word); it supports \(available)")
    }
    return set
  }
}

extension String {
  func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
