import Acoustics
import Figures
import FilterDesign
import Foundation
import Manifolds
import TestSupport
import Testing

@Suite("Mono patterns") struct MonoTests {
  @Test(
    "omnidirectional is the data source's first microphone with the exact delay",
    arguments: [("Bottom", 0), ("Front", 2), ("Back", 3)])
  func omnidirectional(source: String, microphone: Int) {
    let taps = Banks.phone5.coefficients(source, .omnidirectional).taps
    #expect(taps[0] == taps[1])
    for m in 0..<5 {
      for n in 0..<256 { #expect(taps[0][m][n] == (m == microphone && n == 64 ? 1 : 0)) }
    }
  }

  @Test("both outputs of a mono pattern are equal and use only the data source's microphones") func outputs()
  {
    for pattern in TestDevices.firstOrder {
      let taps = Banks.phone5Box.coefficients("Front", pattern).taps
      #expect(taps[0] == taps[1])
      #expect(taps[0][0].allSatisfy { $0 == 0 } && taps[0][1].allSatisfy { $0 == 0 })
      #expect(taps[0][2].contains { abs($0) > 0.1 })
    }
  }

  @Test("a cardioid of two microphones is flat on axis with a deep null behind") func cardioid() {
    // 8 mm in the free field: below about 1.5 kHz the noise floor limits the null.
    let figures = try! MonoFigures(
      Banks.pair.coefficients("Front", .cardioid), bank: Banks.pair.bank, device: Banks.pair.device)
    for level in figures.onAxis { #expect(abs(level.value) < 0.5) }
    for octave in 4...6 { #expect(figures.frontBack[octave].value > 24) }
    // The closed form of a cardioid while the pair is small: 10 log10 3 = 4.77 dB.
    #expect(abs(figures.directivityIndex[4].value - 4.77) < 0.2)
  }

  @Test("A9: a pair's white noise gain stays above its floor") func whiteNoiseGain() {
    let figures = try! MonoFigures(
      Banks.pair.coefficients("Front", .cardioid), bank: Banks.pair.bank, device: Banks.pair.device)
    for gain in figures.whiteNoiseGain { #expect(gain.value > -10.5) }
  }

  @Test("the ring's cardioid has a cardioid's directivity", arguments: ["Front", "Back"])
  func ring(source: String) {
    let figures = try! MonoFigures(
      Banks.ring7.coefficients(source, .cardioid), bank: Banks.ring7.bank, device: Banks.ring7.device)
    for octave in 0...3 {
      #expect(abs(figures.directivityIndex[octave].value - 4.8) < 0.25, "octave \(octave)")
      #expect(abs(figures.onAxis[octave].value) < 0.5)
    }
    #expect(figures.directivityIndex[4].value > 4.3)
  }

  @Test(
    "the filters' figures are close to those of the oracle's untruncated weights", arguments: Goldens.all.mono
  )
  func oracle(golden: Goldens.Mono) throws {
    let designed = Banks.named(golden.device)
    let figures = try MonoFigures(
      designed.coefficients("Front", try PolarPattern(word: golden.polarPattern)), bank: designed.bank,
      device: designed.device)
    for octave in 1...4 {
      #expect(abs(figures.directivityIndex[octave].value - golden.directivityIndex[octave]) < 0.4)
    }
  }

  @Test("the figure of eight has equal levels in front and behind and nulls at the sides") func figureEight()
    throws
  {
    let ring = Banks.ring7
    let response = FilterResponse(
      taps: ring.coefficients("Front", .figureEight).taps, sampleRate: 48_000, delayFrames: 64,
      frequencies: [500, 1000])
    let output = response.outputs(
      try manifold(for: ring.device), from: [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0]])
    for f in 0..<2 {
      let levels = (0..<4).map { 20 * log10(output[f, 0, $0].magnitude) }
      #expect(abs(levels[0] - levels[1]) < 0.3)
      #expect(levels[2] < levels[0] - 25 && levels[3] < levels[0] - 25)
    }
  }
}
