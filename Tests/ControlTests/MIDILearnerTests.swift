import Control
import JackClient
import Messages
import Presets
import Processor
import Settings
import TestSupport
import Testing

@Suite("Learning what a MIDI control is") struct MIDILearnerTests {
  static let start = ContinuousClock.now

  /// What is found half a second after these messages, which come 20 ms apart.
  static func outcome(_ messages: [MIDIMessage], _ target: MIDIMap.Target?, channel: Int? = nil) -> Outcome? {
    var learner = MIDILearner(target, channel: channel, now: start)
    var now = start
    for message in messages {
      now += .milliseconds(20)
      learner.hear([message], at: now)
      if let outcome = learner.finding(at: now) { return outcome }
    }
    return learner.finding(at: now + .milliseconds(500))
  }

  static func found(
    _ messages: [MIDIMessage], _ target: MIDIMap.Target? = .setting(.gain), channel: Int? = nil
  )
    -> LearnAnswer?
  {
    if case .done(let answer as LearnAnswer) = outcome(messages, target, channel: channel) {
      answer
    } else {
      nil
    }
  }

  static func refusal(_ messages: [MIDIMessage], _ target: MIDIMap.Target?) -> String? {
    if case .failed(let failure) = outcome(messages, target) { failure.description } else { nil }
  }

  static func complaint(_ messages: [MIDIMessage], _ target: MIDIMap.Target?, channel: Int? = nil) -> String {
    var learner = MIDILearner(target, channel: channel, now: start)
    learner.hear(messages, at: start)
    return learner.complaint(sources: ["keys:out"]).description
  }

  static func controls(_ values: [Int], _ controller: Int = 16, channel: Int = 1) -> [MIDIMessage] {
    values.map { .controlChange(channel: channel, controller: controller, value: $0) }
  }

  /// Clicks as a device writes them.
  static func wire(_ clicks: Int, _ encoding: MIDIMap.RelativeEncoding) -> Int {
    switch encoding {
    case .twosComplement: clicks & 0x7F
    case .binaryOffset: 0x40 + clicks
    case .signBit: clicks < 0 ? 0x40 | -clicks : clicks
    }
  }

  @Test(
    "R53: encoders are learned with their encoding once they were turned both ways, fast or slowly",
    arguments: [
      ([1, 1, 127, 1, 127], "twos-complement"), ([1, 2, 3, 5, 2, 1, 127, 126, 120], "twos-complement"),
      ([127, 127, 127, 1], "twos-complement"), ([65, 65, 63, 65, 63], "binary-offset"),
      ([63, 62, 60, 63, 65, 66, 63], "binary-offset"), ([65, 63, 65, 63], "binary-offset"),
      ([1, 1, 65, 1, 65], "sign-bit"), ([65, 67, 70, 66, 1, 2, 4], "sign-bit"),
    ])
  func encoders(values: [Int], encoding: String) {
    let answer = Self.found(Self.controls(values))
    #expect(answer?.relative == encoding && answer?.controller == 16 && answer?.channel == 1)
    #expect(answer?.heard.contains("endless encoder, \(encoding)") == true)
    #expect(answer?.heard.contains("\(values.last!)") == true)
    #expect(Self.found(Self.controls(values), .setting(.orientation))?.relative == encoding)
    #expect(
      Self.refusal(Self.controls(values), .setting(.mute))?.contains("mute needs a button or a pad") == true)
    #expect(Self.refusal(Self.controls(values), .marker)?.contains("is an endless encoder") == true)
  }

  @Test(
    "R53: what an encoder might have sent is never taken for a position, for gain, choices or switches",
    arguments: [
      [1], [127], [63], [65], [1, 1, 1], [127, 127], [65, 65, 65], [1, 2, 3, 4, 6, 9, 12], [1, 127],
      [65, 63],
      [127, 125, 120, 112], [1, 3, 8, 20, 26], [65, 68, 75, 90, 80, 66], [1, 1, 5, 20, 45, 20, 1],
      [10, 30, 100, 120],
    ])
  func ambiguous(values: [Int]) {
    for target in MIDIMap.Target.allCases {
      #expect(Self.found(Self.controls(values), target) == nil, "\(target)")
    }
    let complaint = Self.complaint(Self.controls(values), .setting(.gain))
    #expect(
      complaint.contains("controller 16 on channel 1 (\(values.map(String.init).joined(separator: ", ")))"))
    #expect(complaint.contains("turn an encoder slowly both ways") && !complaint.contains("\n"))
  }

  @Test("R53: of 30 000 turns of encoders, none is learned as a fader, or with another encoding")
  func randomEncoders() {
    var random = SeededNoise(seed: 53)
    var (wrong, learned) = (0, 0)
    for encoding in MIDIMap.RelativeEncoding.allCases {
      for _ in 0..<10_000 {
        var values: [Int] = []
        var direction = Bool.random(using: &random) ? 1 : -1
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          // A hand begins slowly, and turns faster.
          var speed = 1
          for _ in 0..<Int.random(in: 1...10, using: &random) {
            values.append(Self.wire(direction * speed, encoding))
            speed = min(max(speed + Int.random(in: -1...3, using: &random), 1), 30)
          }
          direction = -direction
        }
        guard let kind = MIDIControlKind(values) else { continue }
        learned += 1
        if kind != .clicks(encoding) { wrong += 1 }
      }
    }
    #expect(wrong == 0 && learned > 10_000, "\(wrong) of \(learned)")
    Faults.report(
      "R53", done: "30000 turns of encoders, \(learned) learned: as something else", measured: "\(wrong)",
      limit: "0", kept: wrong == 0)
  }

  @Test(
    "R53: of 10 000 sweeps of a fader, all that go through most of its range are learned, none as an encoder")
  func randomFaders() {
    var random = SeededNoise(seed: 54)
    var (wrong, missed) = (0, 0)
    for _ in 0..<10_000 {
      var values = [Int.random(in: 0...20, using: &random)]
      let longest = Int.random(in: 1...12, using: &random)
      while let last = values.last, last < 110 {
        values.append(last + Int.random(in: 1...longest, using: &random))
      }
      if Bool.random(using: &random) { values.reverse() }
      switch MIDIControlKind(values) {
      case .positions: break
      case nil: missed += 1
      default: wrong += 1
      }
    }
    #expect(wrong == 0 && missed == 0)
    Faults.report(
      "R53", done: "10000 sweeps of faders: taken for something else, not learned",
      measured: "\(wrong), \(missed)", limit: "0, 0", kept: wrong + missed == 0)
  }

  @Test(
    "R53: of a 14-bit pair the coarse controller is learned, although it repeats itself",
    arguments: [true, false])
  func pairs(coarseFirst: Bool) {
    let messages = stride(from: 0, to: 16_384, by: 47).flatMap { position in
      let pair = Self.controls([position >> 7], 7) + Self.controls([position & 0x7F], 39)
      return coarseFirst ? pair : pair.reversed()
    }
    let answer = Self.found(messages)
    #expect(answer?.controller == 7 && answer?.relative == nil)
    #expect(answer?.heard.contains("fine part, controller 39, is not used") == true)
    // A little motion, of which the coarse part hardly changes.
    #expect(Self.found(Array(messages[100..<130])) == nil)
  }

  @Test(
    "R53: data entry of numbered parameters, bank select and mode messages are no controls, and are named")
  func parameters() {
    let nrpn = (0..<60).flatMap { value in
      [([1], 99), ([8], 98), ([value * 2], 6), ([0], 38)].flatMap { Self.controls($0, $1) }
    }
    #expect(Self.found(nrpn) == nil)
    #expect(Self.complaint(nrpn, .setting(.gain)).contains("controller 99 (reserved by MIDI) on channel 1"))
    let modes = Self.controls(Array(0...127), 123) + Self.controls(Array(0...127), 0)
    #expect(Self.found(modes) == nil && Self.complaint(modes, .setting(.gain)).contains("controller 123"))
  }

  @Test(
    "R53: a pad's note is learned for triggers and choices, and never for numbers, which say what they heard")
  func pads() {
    let press: [MIDIMessage] = [
      .note(channel: 10, note: 36, velocity: 90), .note(channel: 10, note: 36, velocity: 0),
    ]
    let numbers = [
      MIDIMap.Target.setting(.gain), .lookAzimuth, .lookElevation, .setting(.roll), .setting(.yaw),
      .setting(.adapt), .setting(.wind), .setting(.room), .setting(.talkers),
    ]
    for target in MIDIMap.Target.allCases where !numbers.contains(target) {
      let answer = Self.found(press, target)
      #expect(answer?.note == 36 && answer?.controller == nil && answer?.channel == 10, "\(target)")
      #expect(answer?.heard.contains("note 36 on channel 10: a pad or key") == true)
    }
    for target in numbers { #expect(Self.outcome(press, target) == nil) }
    #expect(
      Self.complaint(press, .setting(.gain)).contains(
        "heard note 36 on channel 10, which does not say what sets gain"))
    // A fader that feels a finger sends a note before it moves.
    let touched = press.prefix(1) + Self.controls(Array(stride(from: 0, through: 127, by: 5)), 7)
    #expect(Self.found(Array(touched), .setting(.orientation))?.controller == 7)
    // A release alone is no press.
    #expect(Self.found(Array(press.suffix(1)), .setting(.mute)) == nil)
  }

  @Test(
    "a button is learned for switches, triggers and choices once it was pressed and released, not for gain")
  func buttons() {
    for target in [MIDIMap.Target.setting(.mute), .record, .marker, .setting(.orientation)] {
      #expect(Self.found(Self.controls([127, 0], 64), target)?.controller == 64, "\(target)")
      #expect(Self.found(Self.controls([0, 127], 64), target)?.heard.contains("a button") == true)
    }
    #expect(
      Self.refusal(Self.controls([127, 0], 64), .setting(.gain))
        == "controller 64 on channel 1 (127, 0) is a button; gain needs a fader, knob or encoder")
    #expect(Self.refusal(Self.controls(Array(0...127), 64), .marker)?.contains("is a fader or knob") == true)
  }

  @Test(
    "nothing is decided while something still comes; another channel than the file's is named, not learned")
  func waiting() {
    var learner = MIDILearner(.setting(.gain), channel: nil, now: Self.start)
    learner.hear(Self.controls(Array(0...127), 7), at: Self.start)
    #expect(learner.finding(at: Self.start + .milliseconds(300)) == nil)
    #expect(learner.finding(at: Self.start + .milliseconds(500)) != nil)
    let sweep = Self.controls(Array(0...127), 7, channel: 3)
    #expect(Self.found(sweep, .setting(.gain), channel: 3)?.channel == 3)
    #expect(Self.found(sweep, .setting(.gain), channel: 2) == nil)
    #expect(
      Self.complaint(sweep, .setting(.gain), channel: 2).contains(
        "controller 7 on channel 3, to which the controllers' file does not listen"))
    #expect(Self.complaint([], .setting(.gain), channel: 2).contains("no controller was moved on channel 2"))
    #expect(Self.complaint([.pitchBend(channel: 1)], .setting(.gain)).contains("pitch bend on channel 1"))
  }
}
