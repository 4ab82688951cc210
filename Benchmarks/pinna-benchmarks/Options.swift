import Messages
import Realtime
import Settings

/// The options after a command.
struct Options {
  private var values: [String: String] = [:]
  let isJSON: Bool

  /// - Throws: a usage failure for an option that does not belong to `command`, or has no value.
  init(_ words: [String], of command: Command) throws(Failure) {
    var (rest, isJSON) = (words[...], false)
    while let word = rest.popFirst() {
      guard command.options.contains(word) else {
        throw Failure(
          .usage,
          "\(command.rawValue) has no option \(word); use one of: \(command.options.joined(separator: ", "))")
      }
      if word == "--json" {
        isJSON = true
      } else if let value = rest.popFirst() {
        values[word] = value
      } else {
        throw Failure(.usage, "\(word) needs a value")
      }
    }
    self.isJSON = isJSON
    if isJSON, values["--compare"] != nil {
      throw Failure(.usage, "--compare prints a table; leave out --json")
    }
  }

  /// The value of `option`; nil if it was not given.
  subscript(option: String) -> String? { values[option] }

  /// The value of `option` as a whole number within `range`; nil if it was not given.
  func integer(_ option: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = values[option] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Failure(
        .usage,
        "\(option) \(text) is not usable; give a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return number
  }

  /// The one configuration of --microphones, --taps and --period; nil if none was given.
  func shape() throws(Failure) -> Partitioning? {
    guard let microphones = try integer("--microphones", in: 1...Partitioning.mostMicrophones) else {
      guard values["--taps"] == nil, values["--period"] == nil else {
        throw Failure(.usage, "--taps and --period belong to one configuration; give --microphones too")
      }
      return nil
    }
    return Partitioning(
      microphones: microphones, taps: try integer("--taps", in: 1...8192) ?? 1024,
      period: try integer("--period", in: 1...Partitioning.longestPeriod) ?? 64)
  }

  /// The number of periods to measure; nil if it was not given.
  func periods() throws(Failure) -> Int? { try integer("--periods", in: 100...10_000_000) }

  /// The instruction set of --isa, or else the fastest of this processor.
  func instructionSet() throws(Failure) -> InstructionSet {
    guard let word = values["--isa"] else { return .best }
    let available = InstructionSet.available.map(\.rawValue).joined(separator: ", ")
    guard let set = InstructionSet(rawValue: word), set.isAvailable else {
      throw Failure(.usage, "--isa \(word) is not usable; this processor supports \(available)")
    }
    return set
  }

  /// The caches that memory is laid out for: this processor's, with the second level of --l2.
  func caches() throws(Failure) -> ProcessorCaches {
    var caches = ProcessorCaches.current
    if let text = values["--l2"] {
      guard let bytes = ProcessorCaches.size(text), bytes > 0 else {
        throw Failure(.usage, "--l2 takes a size such as 512K or 2M, not \(text)")
      }
      caches.secondLevel = bytes
    }
    return caches
  }
}
