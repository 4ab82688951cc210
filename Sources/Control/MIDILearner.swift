import JackClient
import Messages
import Presets
import Processor
import Settings

/// Finds out which control is moved, and what it is: a fader, an endless encoder, a button or a pad.
///
/// One message cannot tell: 1 is a click of an encoder, or a fader near its lower end. So it listens until nothing has
/// come for `quiet`, and takes the first control whose values only one kind of control sends (`MIDIControlKind`).
package struct MIDILearner {
  package static let time = Duration.seconds(20)
  private static let quiet = Duration.milliseconds(400)
  /// The newest values that are kept of each control, enough for a sweep; how many of them are equal in a row, which
  /// the coarse part of 14 bits often is; and the most controls.
  private static let mostValues = 512
  private static let mostEqual = 4
  private static let mostControls = 64

  private struct Control {
    let channel: Int
    let source: MIDIMap.Source
    /// Velocities of a note, without its ends.
    var values: [Int]

    var isNote: Bool { if case .note = source { true } else { false } }

    var description: String {
      let name = "\(source) on channel \(channel)"
      if isNote { return name }
      let shown = values.suffix(8).map(String.init).joined(separator: ", ")
      return "\(name) (\(values.count > 8 ? "… " : "")\(shown))"
    }
  }

  package let begun: ContinuousClock.Instant
  private let target: MIDIMap.Target?
  private let channel: Int?
  /// In the order of their first messages.
  private var controls: [Control] = []
  /// What else was heard, in words.
  private var others: [String] = []
  /// When something was heard last.
  private var lastHeard: ContinuousClock.Instant?
  /// Whether parameter numbers were heard; then data entry is no control of its own.
  private var hasParameters = false

  /// - Parameters:
  ///   - target: what the control shall set; nil for anything.
  ///   - channel: the channel that is listened to; nil for all.
  package init(_ target: MIDIMap.Target?, channel: Int?, now: ContinuousClock.Instant) {
    self.target = target
    self.channel = channel
    begun = now
  }

  package mutating func hear(_ messages: [MIDIMessage], at now: ContinuousClock.Instant) {
    if !messages.isEmpty { lastHeard = now }
    for message in messages {
      let place = "on channel \(message.channel)"
      switch message {
      case .controlChange(_, let number, let value):
        if (98...101).contains(number) { hasParameters = true }
        if Self.isMovable(number) {
          add(.controller(number), value, message.channel)
        } else {
          note("controller \(number) (reserved by MIDI) \(place)")
        }
      case .note(_, let note, let velocity):
        if velocity > 0 { add(.note(note), velocity, message.channel) }
      case .programChange(_, let program): note("program \(program + 1) \(place)")
      case .pitchBend: note("pitch bend \(place)")
      }
    }
  }

  /// Whether a hand moves this controller. Devices send bank select (0, 32) with programs, parameter numbers (98 to
  /// 101) with data entry, and channel mode messages (120 to 127) by themselves.
  private static func isMovable(_ number: Int) -> Bool {
    number != 0 && number != 32 && number < 120 && !(98...101).contains(number)
  }

  private mutating func add(_ source: MIDIMap.Source, _ value: Int, _ channel: Int) {
    guard self.channel.map({ $0 == channel }) ?? true else {
      return note("\(source) on channel \(channel), to which the controllers' file does not listen")
    }
    guard let index = controls.firstIndex(where: { $0.source == source && $0.channel == channel }) else {
      if controls.count < Self.mostControls {
        controls.append(Control(channel: channel, source: source, values: [value]))
      }
      return
    }
    let newest = controls[index].values.suffix(Self.mostEqual)
    if newest.count == Self.mostEqual, newest.allSatisfy({ $0 == value }) { return }
    controls[index].values.append(value)
    if controls[index].values.count > Self.mostValues { controls[index].values.removeFirst() }
  }

  private mutating func note(_ text: String) {
    if others.count < 4, !others.contains(text) { others.append(text) }
  }

  // MARK: What it is

  /// What was found, or why it cannot set the target; nil while it is not clear.
  package func finding(at now: ContinuousClock.Instant) -> Outcome? {
    guard let lastHeard, now - lastHeard >= Self.quiet || now - begun > Self.time else { return nil }
    let moved = controls.filter { !$0.isNote && !isData($0) && !isFine($0) }
    for control in moved {
      let isCoarse = controls.contains { isFine($0) && $0.source == Self.finePart(of: control) }
      if let kind = MIDIControlKind(control.values, isCoarse: isCoarse) {
        return outcome(control, kind, isCoarse: isCoarse)
      }
    }
    // Faders and encoders that feel a finger send a note before they move.
    guard moved.isEmpty, let pad = controls.first(where: \.isNote) else { return nil }
    if case .range = target?.standardScale { return nil }
    return .done(answer(pad, encoding: nil, "a pad or key"))
  }

  /// Whether it is the data entry of a numbered parameter.
  private func isData(_ control: Control) -> Bool {
    hasParameters && [6, 38, 96, 97].map(MIDIMap.Source.controller).contains(control.source)
  }

  /// Whether it is the fine part of 14 bits: it goes along with the controller 32 below it.
  private func isFine(_ control: Control) -> Bool {
    controls.contains {
      $0.channel == control.channel && Self.finePart(of: $0) == control.source
        && 2 * control.values.count >= $0.values.count
    }
  }

  private static func finePart(of control: Control) -> MIDIMap.Source? {
    guard case .controller(let number) = control.source, number < 32 else { return nil }
    return .controller(number + 32)
  }

  private func outcome(_ control: Control, _ kind: MIDIControlKind, isCoarse: Bool) -> Outcome {
    func refusal(_ what: String, _ needed: String) -> Outcome {
      let name = target?.rawValue ?? "it"
      return .failed(Failure(.failed, "\(control.description) is \(what); \(name) needs \(needed)"))
    }
    switch (kind, target?.standardScale) {
    case (.button, .range): return refusal("a button", "a fader, knob or encoder")
    case (.clicks, .toggle), (.clicks, .trigger): return refusal("an endless encoder", "a button or a pad")
    case (.positions, .trigger): return refusal("a fader or knob", "a button or a pad")
    case (.button, _): return .done(answer(control, encoding: nil, "a button"))
    case (.clicks(let encoding), _):
      return .done(answer(control, encoding: encoding, "an endless encoder, \(encoding.rawValue)"))
    case (.positions, _):
      let fine = Self.finePart(of: control).flatMap {
        isCoarse ? ", whose fine part, \($0), is not used" : nil
      }
      return .done(answer(control, encoding: nil, "a fader or knob" + (fine ?? "")))
    }
  }

  private func answer(_ control: Control, encoding: MIDIMap.RelativeEncoding?, _ kind: String) -> LearnAnswer
  {
    var answer = LearnAnswer()
    answer.channel = control.channel
    switch control.source {
    case .controller(let number): answer.controller = number
    case .note(let number): answer.note = number
    }
    answer.relative = encoding?.rawValue
    answer.heard = "\(control.description): \(kind)"
    return answer
  }

  /// Why nothing was found when the time is over.
  /// - Parameter sources: the ports that send MIDI.
  package func complaint(sources: [String]) -> Failure {
    let heard = controls.prefix(4).map(\.description) + others
    guard !heard.isEmpty else {
      let place = channel.map { " on channel \($0)" } ?? ""
      return Failure(
        .failed,
        "no controller was moved\(place) within \(Self.time.components.seconds) s at \(sources.joined(separator: ", ")); try again"
      )
    }
    return Failure(
      .failed,
      "heard \(heard.joined(separator: ", ")), which does not say what sets \(target?.rawValue ?? "it"); move a fader "
        + "through its whole range, turn an encoder slowly both ways, or press a button twice, and try again")
  }
}
