import Acoustics
import ArrayCheck
import Foundation
import Presets
import TestSupport
import Testing

/// Recordings whose channels are not the microphones of the device file, or no microphones at all.
@Suite("Channels that are not what the check expects") struct ChannelTests {
  private static let rate = ArrayScenes.rate
  /// Six microphones on the first of eight channels, and two loopback channels.
  private static let ring = try! ArrayScenes.device("respeaker-6mic-hat")
  private static let sound = try! ArrayScenes.recording(
    of: ring, kind: .severalTalkers, sides: 5, room: true, snr: 30, seed: 11, seconds: 5)

  /// All channels of the product, later by some channels, in a circle.
  /// - Parameters:
  ///   - loopback: amplitude of the two loopback channels, which carry something else than the room.
  ///   - isMono: whether both carry the same.
  private func product(
    _ microphones: [[Float]] = Self.sound, shiftedBy offset: Int, loopback: Float, isMono: Bool = false
  ) -> [[Float]] {
    let played = SeededNoise.channels(2, microphones[0].count, amplitude: loopback, seed: 3)
    let all = microphones + (isMono ? [played[0], played[0]] : played)
    return all.indices.map { all[($0 + all.count - offset) % all.count] }
  }

  private func verdict(_ channels: [[Float]]) throws -> ArrayVerdict {
    try ArrayCheck.verdict(on: channels, of: Self.ring, sampleRate: Self.rate)
  }

  @Test("sound shorter than a frame of the analysis raises no doubt, whatever its length")
  func short() throws {
    let tetrahedron = try ArrayScenes.device("tetramic")
    for frames in [1, 1023, 1024, 1025, 2000, 2047, 2048, 2049] {
      let sound = [[Float]](repeating: .init(repeating: 0.1, count: frames), count: 4)
      #expect(ArrayCheck.doubt(about: sound, of: tetrahedron, sampleRate: Self.rate) == nil)
    }
  }

  @Test("all channels of a product that arrive in place are judged as its microphones alone are")
  func inPlace() throws {
    let alone = try verdict(Self.sound)
    #expect(alone.channels.isEmpty)
    for loopback: Float in [0, 1e-5, 0.1] {
      let all = try verdict(product(shiftedBy: 0, loopback: loopback))
      #expect(all.channels.map(\.microphone) == Self.ring.microphones.map(\.name) + [nil, nil])
      #expect(all.channels.allSatisfy { ($0.level == nil) == ($0.microphone == nil && loopback == 0) })
      #expect(all.isWell && all.microphones == alone.microphones && all.notJudged == alone.notJudged)
    }
  }

  @Test(
    "silent loopback channels among the microphones are a shift, with what to do, and nothing else",
    arguments: 1...7)
  func shifted(offset: Int) throws {
    for loopback: Float in [0, 1e-5] {
      let verdict = try verdict(product(shiftedBy: offset, loopback: loopback))
      let finding = try #require(verdict.findings.first)
      #expect(verdict.findings.map(\.kind) == [.shifted] && finding.size == Double(offset))
      #expect(
        finding.sentence.contains("shifted by \(offset) channel")
          && finding.remedy.contains("start the capture again"))
      #expect(!finding.remedy.contains("write"))
      #expect(verdict.microphones[0].verdict == "on channel \(offset % 8 + 1)" && !verdict.isWell)
      let carried = verdict.channels.map(\.microphone)
      #expect((0..<8).map { carried[($0 + offset) % 8] } == Self.ring.microphones.map(\.name) + [nil, nil])
    }
  }

  @Test(
    "loopback channels that play something are told from microphones, too, in stereo and in mono",
    arguments: [2, 4, 5], [false, true])
  func playing(offset: Int, isMono: Bool) throws {
    let verdict = try verdict(product(shiftedBy: offset, loopback: 0.05, isMono: isMono))
    #expect(verdict.findings.map(\.kind) == [.shifted], "\(verdict.findings.map(\.sentence))")
    #expect(verdict.findings.first?.size == Double(offset))
  }

  @Test("a dead, a doubled or an exchanged microphone is no shift because a loopback channel plays")
  func faults() throws {
    var dead = Self.sound
    dead[1] = dead[1].map { _ in 0 }
    let first = try verdict(product(dead, shiftedBy: 0, loopback: 0.05))
    #expect(first.findings.map(\.kind) == [.dead] && first.findings[0].microphones == [1])
    #expect(first.notJudged.contains { $0.hasPrefix("Channels 7 and 8") && $0.contains("ring-2 does not") })
    var doubled = Self.sound
    doubled[4] = doubled[5]
    let copied = try verdict(product(doubled, shiftedBy: 0, loopback: 0.05))
    #expect(copied.findings.contains { $0.kind == .doubled && $0.microphones == [4, 5] })
    #expect(!copied.findings.contains { $0.kind == .shifted })
    var swapped = Self.sound
    swapped.swapAt(0, 2)
    let second = try verdict(product(swapped, shiftedBy: 0, loopback: 0.05))
    // A symmetric array leaves two pairs, of which one is it.
    #expect(second.findings.map(\.kind) == [.swapped] && second.findings[0].microphones == [0, 2, 3, 5])
    #expect(second.findings[0].isOneOf)
  }

  /// A low-pass that leaves nothing above some frequency, as a codec has it.
  private static func cut(_ signal: [Float], above frequency: Double) -> [Float] {
    // A sinc with a Blackman window of 801 taps: 80 dB down within 300 Hz.
    let taps = (-400...400).map { n -> Float in
      let x = Double(n)
      let window = 0.42 + 0.5 * cos(.pi * x / 401) + 0.08 * cos(2 * .pi * x / 401)
      let omega = 2 * Double.pi * frequency / Double(rate)
      return Float(window * (n == 0 ? omega / .pi : sin(omega * x) / (.pi * x)))
    }
    return signal.indices.map { n in
      taps.indices.reduce(0) { sum, k in
        let at = n + 400 - k
        return signal.indices.contains(at) ? sum + taps[k] * signal[at] : sum
      }
    }
  }

  @Test(
    "microphones without treble are found: one that is covered, one taken for the bass, and all of them cut off"
  )
  func dull() throws {
    let part = Self.sound.map { Array($0.prefix(2 * Self.rate)) }
    #expect(try !verdict(part).findings.contains { $0.kind == .dull })
    for (edge, channels) in [(300.0, [5]), (4200.0, [2]), (4200.0, Array(0..<6))] {
      var cut = part
      for c in channels { cut[c] = Self.cut(part[c], above: edge) }
      let verdict = try verdict(cut)
      let finding = try #require(
        verdict.findings.first { $0.kind == .dull }, "\(verdict.findings.map(\.sentence))")
      #expect(finding.microphones == channels && !verdict.isWell, "\(finding.sentence)")
      #expect(channels.count == 1 || finding.sentence.contains("in any microphone"))
    }
  }

  @Test("nothing is calibrated from a shifted capture, or from invalid samples")
  func calibration() throws {
    for (channels, reason) in [
      (product(shiftedBy: 2, loopback: 0), "shifted by 2 channels"),
      (Self.sound.map { [.nan] + $0.dropFirst() }, "invalid sample"),
    ] {
      let error = #expect(throws: ArrayCheckError.self) {
        try ArrayCalibration(of: Self.ring, signals: channels, sampleRate: Self.rate, date: "2026-11-26")
      }
      #expect(error?.description.contains(reason) == true, "\(error as Any)")
    }
  }

  @Test("the levels alone tell a shift, and what they leave open")
  func levels() {
    let (on, off) = (-30.0, -100.0)
    func warning(_ levels: [Double?]) -> String? { CaptureShift(levels: levels, of: Self.ring)?.warning }
    #expect(warning([on, on, on, on, on, on, off, nil]) == nil)
    #expect(warning([on, on, on, on, on, on, on, on]) == nil)
    #expect(warning([nil, nil, on, on, on, on, on, on])?.contains("shifted by 2 channels") == true)
    #expect(warning([on, on, off, off, on, on, on, on])?.contains("shifted by 4 channels") == true)
    #expect(
      warning([on, off, on, on, on, on, on, off])?.contains("ring-2 does not: if the capture may be") == true)
    #expect(warning([on, off, on, on, on, on]) == nil)
  }

  @Test("no shift is stated that is one of several")
  func ambiguous() throws {
    let text = """
      format: 2
      title: Every second channel
      body: free
      hardware: {card: [x], channels: 8, rates: [48000]}
      microphones:
        a: {position: [30, 0, 0], channel: 1}
        b: {position: [0, 30, 0], channel: 3}
        c: {position: [-30, 0, 0], channel: 5}
        d: {position: [0, -30, 0], channel: 7}
      dataSources: {All: {forward: +z, microphones: all, polarPatterns: [omnidirectional]}}
      """
    let device = try DeviceFile.read(YAMLReader(text: text, file: "d.yaml"))
    let levels: [Double?] = [nil, -30, nil, -30, nil, -30, nil, -30]
    let warning = try #require(CaptureShift(levels: levels, of: device)?.warning)
    #expect(warning.contains("may be shifted") && !warning.contains("shifted by"), "\(warning)")
  }

  // MARK: Invalid samples

  @Test(
    "a microphone with NaN, infinity or more than +60 dBFS is not well, and is named",
    arguments: [
      Float.nan, .infinity, -1e9,
    ])
  func invalid(value: Float) throws {
    var channels = Self.sound
    (channels[3][24_000], channels[3][30_000]) = (value, value)
    let verdict = try verdict(channels)
    #expect(verdict.findings.map(\.kind) == [.invalid] && verdict.findings[0].microphones == [3])
    #expect(verdict.findings[0].sentence.contains("ring-4 has 2 invalid samples") && !verdict.isWell)
    #expect(verdict.findings[0].sentence.hasSuffix("first at 0.5 s"))
  }

  // MARK: B-format

  /// Voices of noise from several directions with one reflection each, as W, X, Y, Z.
  private func bFormat(seed: UInt64, w: Float, order: [Int]) -> [[Float]] {
    var random = SeededNoise(seed: seed)
    var channels = [[Float]](repeating: [Float](repeating: 0, count: 4 * Self.rate), count: 4)
    for n in 0..<8 {
      let voice = random.samples(Self.rate, amplitude: 0.2)
      for (delay, gain) in [(0, Float(1)), (523, 0.4)] {
        let azimuth = Double.random(in: -.pi...Double.pi, using: &random)
        let height = Double.random(in: -0.6...0.6, using: &random)
        let flat = (1 - height * height).squareRoot()
        let gains = [w, Float(flat * cos(azimuth)), Float(flat * sin(azimuth)), Float(height)]
        for m in 0..<4 {
          for k in voice.indices where n * Self.rate / 2 + delay + k < channels[m].count {
            channels[m][n * Self.rate / 2 + delay + k] += gain * gains[m] * voice[k]
          }
        }
      }
    }
    return order.map { channels[$0].map { $0 + 1e-4 * Float.random(in: -1...1, using: &random) } }
  }

  @Test("B-format is named, in the old order and in AmbiX", arguments: ["tetramic", "h3-vr"])
  func ambisonics(name: String) throws {
    let device = try ArrayScenes.device(name)
    for (seed, w, order) in [(1, Float(0.5.squareRoot()), [0, 1, 2, 3]), (2, 1, [0, 2, 3, 1])]
      as [(UInt64, Float, [Int])]
    {
      let channels = bFormat(seed: seed, w: w, order: order)
      let verdict = try ArrayCheck.verdict(on: channels, of: device, sampleRate: Self.rate)
      #expect(verdict.findings.map(\.kind) == [.bFormat] && !verdict.isWell)
      #expect(verdict.findings.first?.remedy.contains("A-format") == true)
      #expect(
        ArrayCheck.doubt(about: channels, of: device, sampleRate: Self.rate)?.contains("B-format") == true)
    }
  }

  @Test("capsules are not taken for B-format, whatever sounds around them", arguments: ["tetramic", "h3-vr"])
  func capsules(name: String) throws {
    let device = try ArrayScenes.device(name)
    for (seed, kind) in ArrayScenes.Kind.allCases.enumerated() {
      for room in [false, true] {
        let sound = try ArrayScenes.recording(of: device, kind: kind, room: room, snr: 30, seed: 40 + seed)
        for m in 0..<4 {
          // Also with a microphone that is dead, inverted, or 3 dB louder.
          for factor: Float in [1, 0, -1, 1.41] {
            var changed = sound
            changed[m] = changed[m].map { factor * $0 }
            let doubt = ArrayCheck.doubt(about: changed, of: device, sampleRate: Self.rate)
            #expect(doubt == nil, "\(kind) \(room) \(m) \(factor)")
          }
        }
      }
    }
  }

  @Test("no more of a recording is used than memory allows, and at least 10 s")
  func memory() {
    for (channels, rate) in [(1, 8000), (8, 48000), (64, 48000), (16, 192_000)] {
      let frames = ArrayCheck.framesUsed(channels: channels, sampleRate: rate)
      #expect(frames >= 10 * rate && frames <= 60 * rate)
      #expect(frames == 10 * rate || frames * channels <= 12_000_000)
    }
  }
}
