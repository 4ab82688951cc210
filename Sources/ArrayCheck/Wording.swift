import Acoustics
import AudioFiles

/// What users read about findings; decides nothing. Microphones are indices of `names`.
struct Wording {
  let names: [String]

  /// The sentence as the beginning of a line.
  static func capitalised(_ sentence: String) -> String {
    sentence.prefix(1).uppercased() + sentence.dropFirst()
  }

  // MARK: What channels are

  func bFormat(_ device: String) -> Finding {
    Finding(
      .bFormat, Array(names.indices), verdicts: ["W", "X, Y or Z", "X, Y or Z", "X, Y or Z"],
      sentence: "the four channels fit B-format (W, X, Y, Z) and not the capsules of \(device)",
      remedy: BFormat.remedy)
  }

  // MARK: What one channel shows

  /// - Parameter seconds: from the beginning to the first one.
  func invalid(_ m: Int, count: Int, seconds: Double) -> Finding {
    Finding(
      .invalid, m, size: Double(count), verdict: "invalid samples",
      sentence: InvalidSamples.sentence(about: names[m], count: count, seconds: seconds),
      remedy: "look for the program or converter that makes them; a running Pinna mutes such a microphone")
  }

  /// - Parameter difference: to the median microphone in dB; nil for silence.
  func dead(_ m: Int, below difference: Double?) -> Finding {
    let how = difference.map { "is \(Int($0.rounded())) dB below the others" } ?? "is silent"
    return Finding(
      .dead, m, size: difference.map { -$0 }, verdict: "dead", sentence: "\(names[m]) \(how)",
      remedy: "check its plug, its channel in the interface, and that it is not muted")
  }

  func clipped(_ m: Int, runs: Int) -> Finding {
    Finding(
      .clipped, m, size: Double(runs), verdict: "clipped", sentence: "\(names[m]) clips, \(runs) times",
      remedy: "turn down the gain of the interface and record again")
  }

  func offset(_ m: Int, _ offset: Double) -> Finding {
    Finding(
      .offset, m, size: offset, verdict: "DC offset",
      sentence: "\(names[m]) has a DC offset of \((1000 * offset).rounded() / 10) % of full scale",
      remedy: "check its cable and its supply; a high-pass removes the offset from what you record")
  }

  func hum(_ hum: Hum) -> Finding {
    let (name, excess) = (names[hum.microphone], hum.excess)
    return Finding(
      .hum, hum.microphone, size: excess, verdict: "hum",
      sentence:
        "\(name) hums at \(hum.mains) Hz, \(excess > 60 ? "more than 60" : "\(Int(excess.rounded()))") dB more than the others",
      remedy: "check the shield of its cable, and keep it away from power supplies")
  }

  /// One finding for all whose sound ends, for that is the work of a program; one for each that is covered.
  func dull(_ all: [Dullness]) -> [Finding] {
    let cut = all.filter { $0.edge != nil }
    let ends = cut.isEmpty ? [] : [ending(cut)]
    return ends
      + all.filter { $0.edge == nil }.map { one in
        Finding(
          .dull, one.microphone, size: one.missing, verdict: "no treble",
          sentence:
            "\(names[one.microphone]) has \(Int(one.missing.rounded())) dB less treble than the others",
          remedy: "see whether its port is covered; a lossy format may have taken it for the bass loudspeaker"
        )
      }
  }

  private func ending(_ cut: [Dullness]) -> Finding {
    let microphones = cut.map(\.microphone)
    let edge = cut.compactMap(\.edge).max() ?? 0
    let whose = microphones.count == names.count ? "any microphone" : list(microphones, "or")
    return Finding(
      .dull, microphones, size: cut.map(\.missing).max(), verdicts: microphones.map { _ in "no treble" },
      sentence: "there is no sound above \((edge / 100).rounded() / 10) kHz in \(whose)",
      remedy: "a lossy format or a lower sample rate has cut it off; keep microphones as WAV or FLAC")
  }

  func doubled(_ pair: CopiedPair) -> Finding {
    let (a, b) = (names[pair.a], names[pair.b])
    return Finding(
      .doubled, [pair.a, pair.b], size: pair.residual, verdicts: ["same as \(b)", "same as \(a)"],
      sentence: "\(a) and \(b) carry the same signal",
      remedy: "two ports are connected to one channel: give each microphone its own")
  }

  // MARK: Polarity and levels

  func inverted(_ m: Int) -> Finding {
    Finding(
      .inverted, m, verdict: "inverted", sentence: "\(names[m]) is inverted against the others",
      remedy: "swap its two wires, or write \"polarity: inverted\" for it in the device file")
  }

  /// One of two camps is inverted.
  func opposed(_ first: [Int], _ second: [Int]) -> Finding {
    let (a, b) = (list(first), list(second))
    return Finding(
      .inverted, first + second, isOneOf: true,
      verdicts: first.map { _ in "inverted against \(b)" } + second.map { _ in "inverted against \(a)" },
      sentence: "\(a) and \(b) have opposite polarity; which of them is inverted cannot be told from sound",
      remedy: "swap the two wires of one of them, or write \"polarity: inverted\" for it in the device file")
  }

  private static let setGains = "set the gains of the interface alike, or run: pinna array calibrate"

  /// - Parameter deviation: from the median microphone in dB.
  func level(_ m: Int, _ deviation: Double) -> Finding {
    Finding(
      .level, m, size: deviation, verdict: deviation > 0 ? "too loud" : "too quiet",
      sentence: "\(names[m]) is \(signed(deviation)) dB against the median microphone", remedy: Self.setGains)
  }

  /// One of two microphones is too loud, or the other too quiet.
  func louder(_ pair: [Int], isSecond: Bool, by difference: Double) -> Finding {
    let verdicts = ["too loud, or the other too quiet", "too quiet, or the other too loud"]
    let (louder, quieter) = isSecond ? (pair[1], pair[0]) : (pair[0], pair[1])
    return Finding(
      .level, pair, isOneOf: true, size: difference, verdicts: isSecond ? verdicts.reversed() : verdicts,
      sentence: "\(names[louder]) is \(signed(difference)) dB louder than \(names[quieter])",
      remedy: Self.setGains)
  }

  // MARK: Order and delays

  /// - Parameter pairs: one pair, or those of which it is one.
  func swapped(_ pairs: [(Int, Int)]) -> Finding {
    let isOneOf = pairs.count > 1
    let verdict = isOneOf ? "perhaps swapped with" : "swapped with"
    let those = pairs.map { "\(names[$0.0]) and \(names[$0.1])" }.joined(separator: ", or ")
    return Finding(
      .swapped, pairs.flatMap { [$0.0, $0.1] }, isOneOf: isOneOf,
      verdicts: pairs.flatMap { ["\(verdict) \(names[$0.1])", "\(verdict) \(names[$0.0])"] },
      sentence: isOneOf
        ? "\(those), are swapped; the array is symmetric, so that sound cannot tell which"
        : "\(those) are swapped",
      remedy: isOneOf
        ? "tap one of them and watch the meters, then exchange that pair's connections"
        : "exchange their connections, or, for live input, their channels in the device file")
  }

  /// - Parameter moved: a channel, and the microphone that it carries.
  func permuted(_ moved: [(Int, Int)]) -> Finding {
    Finding(
      .permuted, moved.map(\.0), verdicts: moved.map { "carries \(names[$0.1])" },
      sentence:
        "the channels are in another order: \(moved.map { "\(names[$0.0]) carries \(names[$0.1])" }.listed())",
      remedy:
        "connect each microphone to its own port, or, for live input, write its \"channel\" in the device file"
    )
  }

  /// - Parameter candidates: the late microphone, or those of which it is one, with delays in seconds; negative if
  ///   early.
  func late(_ candidates: [(microphone: Int, delay: Double)], sampleRate: Int) -> Finding {
    let isOneOf = candidates.count > 1
    let size = { (delay: Double) in "\(abs(Int((delay * 1e6).rounded()))) µs" }
    let word = { (delay: Double) in delay < 0 ? "early" : "late" }
    let (first, delay) = candidates[0]
    let frames = (abs(delay) * Double(sampleRate) * 10).rounded() / 10
    let time = "\(size(delay)) (\(frames) frames) \(word(delay))"
    return Finding(
      .late, candidates.map(\.microphone), isOneOf: isOneOf, size: (delay * 1e6).rounded(),
      verdicts: candidates.map { "\(isOneOf ? "perhaps " : "")\(size($0.delay)) \(word($0.delay))" },
      sentence: isOneOf
        ? "one of \(list(candidates.map(\.microphone), "or")) comes about \(time), or the other way round"
        : "\(names[first]) comes \(time)",
      remedy: "record all microphones through one interface; what remains, pinna array calibrate measures")
  }

  // MARK: Taps

  func unanswered(_ m: Int) -> Finding {
    Finding(
      .dead, m, verdict: "no answer", sentence: "\(names[m]) did not answer",
      remedy: "tap again, closer and harder; if it stays silent, check its plug and its channel")
  }

  func misplaced(_ m: Int, on channel: Int) -> Finding {
    let verdict = "on the channel of \(names[channel])"
    return Finding(
      .permuted, m, verdict: verdict, sentence: "\(names[m]) is \(verdict)",
      remedy: "connect it to its own channel, or correct the channels in the device file")
  }

  // MARK: Lists

  /// Two or three words for each finding about a microphone; "well" if there is none.
  static func verdict(on m: Int, _ findings: [Finding]) -> String {
    let verdicts = findings.compactMap { $0.verdict(on: m) }
    return verdicts.isEmpty ? "well" : verdicts.joined(separator: ", ")
  }

  /// "a, b and c".
  func list(_ microphones: [Int], _ word: String = "and") -> String {
    microphones.map { names[$0] }.listed(word)
  }
}

extension [String] {
  /// "a", "a and b", "a, b and c".
  func listed(_ word: String = "and") -> String {
    count < 2 ? first ?? "" : dropLast().joined(separator: ", ") + " \(word) " + last!
  }
}

/// "+6.1" or "-3.0"; what rounds to zero is "+0.0".
package func signed(_ value: Double, digits: Int = 1) -> String {
  let scale = digits == 1 ? 10.0 : 100.0
  let rounded = (abs(value) * scale).rounded() / scale
  return (value < 0 && rounded > 0 ? "-" : "+") + "\(rounded)"
}
