import Acoustics
import ArrayCheck
import TestSupport
import Testing

@Suite("Which microphone answers a tap")
struct TapTests {
  private static let block = 960

  /// Noise in four channels, with a decaying click from block 20 on.
  /// - Parameters:
  ///   - taps: amplitude of the click by channel.
  ///   - noise: amplitude of the noise.
  private func answers(_ taps: [Float], noise: Float = 0.001, offset: Float = 0) -> [TapAnswer] {
    var random = SeededNoise(seed: 5)
    var listener = TapListener(channels: taps.count)
    return (0..<60).compactMap { number in
      let signals = taps.map { tap in
        random.samples(Self.block, amplitude: noise).enumerated().map { n, x in
          let age = (number - 20) * Self.block + n
          let envelope: Float = age >= 0 && age < 1000 ? tap - tap * Float(age) / 1000 : 0
          let click = n % 2 == 0 ? envelope : -envelope
          return x + offset + click
        }
      }
      return listener.hear(signals)
    }
  }

  @Test("the channel of the loudest tap answers, once, with what it is above the next")
  func loudest() throws {
    for channel in 0..<4 {
      let found = answers((0..<4).map { $0 == channel ? 0.3 : 0.06 })
      #expect(found.map(\.channel) == [channel])
      #expect(abs(try #require(found.first).margin - 14) < 1)
    }
  }

  @Test("a sound that all channels hear alike is no answer, and neither is silence or noise")
  func others() {
    #expect(answers([0.3, 0.25, 0.28, 0.2]).isEmpty)
    #expect(answers([0, 0, 0, 0], noise: 0.1).isEmpty)
    #expect(answers([0, 0, 0, 0], noise: 0, offset: 0.2).isEmpty)
  }

  @Test("in digital silence the tapped channel answers, and a tap within the noise does not")
  func extremes() {
    #expect(answers([0, 0.05, 0, 0], noise: 0).map(\.channel) == [1])
    #expect(answers([0, 0.05, 0, 0], noise: 0.3).isEmpty)
  }

  private func verdict(_ channels: [Int?]) throws -> TapVerdict {
    let device = try ArrayScenes.device("tetramic")
    return TapVerdict(
      of: device, answers: channels.map { $0.map { TapAnswer(channel: $0, margin: 12) } })
  }

  @Test("the verdict says in order, swapped, on another channel, or no answer")
  func verdicts() throws {
    let names = try ArrayScenes.device("tetramic").microphones.map(\.name)
    #expect(try verdict([0, 1, 2, 3]).isWell)
    let swapped = try verdict([0, 2, 1, nil])
    #expect(
      swapped.microphones.map(\.verdict)
        == ["in order", "swapped with \(names[2])", "swapped with \(names[1])", "no answer"])
    #expect(swapped.findings.map(\.kind) == [.swapped, .dead])
    let shifted = try verdict([1, 2, 3, 0])
    #expect(shifted.microphones[0].verdict == "on the channel of \(names[1])")
    #expect(shifted.findings.count == 4 && !shifted.isWell)
    // Two microphones on one channel: one of them is not in its place.
    #expect(try verdict([0, 0, 2, 3]).findings.map(\.microphones) == [[1]])
  }
}
