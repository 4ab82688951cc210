/// One row of the OSC method table; the README's is made from it.
public struct OSCMethod: Sendable {
  enum Action: Sendable {
    case status, inputs, set
    case setOne(String)
    case usePreset, recordStart, recordStop, stop
  }

  public let path: String
  /// In words, for people.
  public let arguments: String
  public let effect: String
  let action: Action
  private let counts: ClosedRange<Int>
  /// Arguments come in groups of so many.
  private var group: Int {
    switch action {
    case .set, .recordStart: 2
    default: 1
    }
  }

  func takes(_ count: Int) -> Bool {
    if case .recordStart = action, count == 1 { return true }
    return counts.contains(count) && count % group == 0
  }

  init(_ path: String, _ arguments: String, _ counts: ClosedRange<Int>, _ effect: String, _ action: Action) {
    self.path = path
    self.arguments = arguments
    self.counts = counts
    self.effect = effect
    self.action = action
  }

  public static let all: [OSCMethod] = [
    OSCMethod("/pinna/status", "no arguments", 0...0, "everything that status prints, as JSON", .status),
    OSCMethod("/pinna/inputs", "no arguments", 0...0, "inputs and data sources, as JSON", .inputs),
    OSCMethod(
      "/pinna/set", "pairs of strings, setting and value", 2...10, "several changes as one crossfade", .set),
    OSCMethod("/pinna/set/data-source", "a string", 1...1, "change the data source", .setOne("data-source")),
    OSCMethod("/pinna/set/pattern", "a string", 1...1, "change the polar pattern", .setOne("pattern")),
    OSCMethod(
      "/pinna/set/orientation", "a string", 1...1, "change the input orientation", .setOne("orientation")),
    OSCMethod("/pinna/set/gain", "a number in dB", 1...1, "change the gain", .setOne("gain")),
    OSCMethod("/pinna/set/mute", "on or off", 1...1, "fade out or in", .setOne("mute")),
    OSCMethod("/pinna/preset/use", "a string", 1...1, "change to a preset", .usePreset),
    OSCMethod(
      "/pinna/record/start", "nothing, a folder, or pairs of strings (dir, raw, format)", 0...10,
      "start a take; changes are refused until it ends", .recordStart),
    OSCMethod("/pinna/record/stop", "no arguments", 0...0, "end the take", .recordStop),
    OSCMethod("/pinna/stop", "no arguments", 0...0, "end the processor, finalising a take", .stop),
  ]
}
