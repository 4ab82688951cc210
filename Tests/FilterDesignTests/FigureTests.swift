import Acoustics
import Figures
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// Figures of given filters against closed forms and the oracle.
@Suite("Figures of filters") struct FigureTests {
  /// An array whose microphones have the levels that `levels` gives, so that a figure's closed form needs no filters.
  struct IdealArray: ArrayManifold {
    let microphoneCount: Int
    var positions: [Position] { [Position](repeating: .zero, count: microphoneCount) }
    let levels: @Sendable (SIMD3<Double>) -> [Double]

    func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
      var grid = ResponseGrid(
        frequencies: frequencies.count, channels: microphoneCount, directions: directions.count)
      for (d, direction) in directions.enumerated() {
        for (m, level) in levels(direction).enumerated() {
          for f in frequencies.indices { grid[f, m, d] = Complex(level, 0) }
        }
      }
      return grid
    }
  }

  /// An array with the responses of the listener's ears that stereo imitates.
  struct Ears: ArrayManifold {
    let frame: HeadFrame
    let positions: [Position] = [.zero, .zero]

    func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
      StereoDesign.target(
        StereoTests.hrtf, from: directions.map(frame.head(fromDevice:)), frequencies: frequencies)
    }
  }

  /// Filters of one impulse, at 64 frames; rows are `[output][microphone]`.
  static func impulses(_ rows: [[Float]]) -> Taps<Float> {
    Taps(rows.map { $0.map { level in (0..<256).map { $0 == 64 ? level : 0 } } })
  }

  static func mono(
    _ manifold: any ArrayManifold, _ row: [Float], _ pattern: PolarPattern, forward: Direction = .plusZ
  ) -> MonoFigures {
    try! MonoFigures(
      taps: impulses([row, row]), sampleRate: 48_000, delayFrames: 64, manifold: manifold, forward: forward,
      omnidirectionalPart: pattern.omnidirectionalPart!)
  }

  @Test(
    "an ideal pattern has the figures of its closed form",
    arguments: TestDevices.firstOrder + [.omnidirectional, .figureEight])
  func idealPatterns(pattern: PolarPattern) throws {
    let a = try #require(pattern.omnidirectionalPart)
    let ideal = IdealArray(microphoneCount: 1) { [a + (1 - a) * $0.z] }
    let figures = Self.mono(ideal, [1], pattern)
    /// ∫ (α + (1 − α) c)² dc
    func integral(_ from: Double, _ to: Double) -> Double {
      func primitive(_ c: Double) -> Double {
        a * a * c + a * (1 - a) * c * c + (1 - a) * (1 - a) * c * c * c / 3
      }
      return primitive(to) - primitive(from)
    }
    let index = -10 * log10(integral(-1, 1) / 2)
    let edge = cos(Double.pi / 6)
    let frontBack = 10 * log10(integral(edge, 1) / integral(-1, -edge))
    for octave in SeriesFigure.octaves.indices {
      // 900 directions integrate the square of a first-order pattern to 1e-3.
      #expect(abs(figures.directivityIndex[octave].value - index) < 0.01)
      // 60 of them lie in each cone; directions at the rim count as in or out: 2 % of either energy.
      #expect(abs(figures.frontBack[octave].value - frontBack) < 0.2)
      #expect(figures.patternError[octave].value < -100)
      #expect(abs(figures.onAxis[octave].value) < 1e-6 && abs(figures.whiteNoiseGain[octave].value) < 1e-6)
    }
    if pattern == .cardioid { #expect(abs(figures.directivityIndex[0].value - 4.77) < 0.01) }
  }

  @Test("one microphone as a cardioid has the error of the whole difference") func oneMicrophone() {
    // mean (1 − (1 + c)/2)² = mean ((1 + c)/2)²
    let figures = Self.mono(FreeFieldManifold(positions: [[0, 0, 0]]), [1], .cardioid)
    for error in figures.patternError { #expect(abs(error.value) < 0.02) }
  }

  @Test("the difference of two microphones has the figures of a dipole") func dipole() {
    let spacing = 0.008
    let pair = FreeFieldManifold(positions: [[0, 0, spacing / 2], [0, 0, -spacing / 2]])
    let figures = Self.mono(pair, [1, -1], .figureEight)
    for (octave, centre) in MonoFigures.octaves.enumerated() {
      let bins = (0..<427).map { Double($0) * 46.875 }
        .filter { $0 >= centre.value / 1.3 && $0 <= centre.value * 1.3 }
      let phases = bins.map { 2 * .pi * $0 / 343 * spacing }
      // |1 − e^(−jkd)|² = 4 sin²(kd/2); over the sphere 2 (1 − sin(kd)/(kd)); noise 2.
      let axis = phases.map { 10 * log10(4 * pow(sin($0 / 2), 2)) }.reduce(0, +) / Double(bins.count)
      let mean =
        phases.map { 10 * log10(2 * (1 - sin($0) / $0)) }.reduce(0, +) / Double(bins.count)
      #expect(abs(figures.onAxis[octave].value - axis) < 1e-3)
      #expect(abs(figures.whiteNoiseGain[octave].value - axis + 10 * log10(2)) < 1e-3)
      #expect(abs(figures.directivityIndex[octave].value - axis + mean) < 0.01)
      #expect(abs(figures.frontBack[octave].value) < 0.01)
    }
  }

  static let frames: [HeadFrame] = [
    HeadFrame(forward: .plusZ, orientation: .portrait)!,
    HeadFrame(forward: Direction.plusZ.opposite, orientation: .landscapeLeft)!,
  ]

  /// acoustics.md, section 6: the target itself has 7.8 dB, and 7.1 dB with front emphasis.
  @Test("the target's own ears have its figures and no errors", .long, arguments: frames) func target(
    frame: HeadFrame
  ) throws {
    let view = CaseView.ears(frame)
    let field = try MeasuringField(
      manifold: Ears(frame: frame), views: [view], frequencies: DesignGrid(sampleRate: 48_000).frequencies)
    // The ears themselves, the ears swapped, and one of them 6 dB louder.
    let taps = [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[2, 0], [0, 1]]].map(Self.impulses)
    let figures = try FigureReader(
      taps.map { (view, $0) }, sampleRate: 48_000, delayFrames: 64, field: field, hrtf: StereoTests.hrtf
    ).read().map { reading in
      guard case .stereo(let figures) = reading else { preconditionFailure("a view of ears is stereo") }
      return figures
    }
    let (nominal, swapped, lopsided) = (figures[0], figures[1], figures[2])
    #expect(abs(nominal.separation.value - 7.8) < 0.05)
    #expect(abs(nominal.frontBack.value - 7.1) < 0.05)
    // KEMAR's ears are 8.75 cm from its centre: Woodworth's (1 + π/2) r / c is 656 µs.
    #expect(abs(nominal.timeDifferenceLeft - 656) < 100)
    #expect(nominal.timeDifferenceError == 0)
    // The same 900 directions, turned with the head, integrate a little differently, most at 8 kHz.
    let coherence = nominal.coherenceErrors
    #expect(coherence.count == 7 && coherence.prefix(6).allSatisfy { abs($0) < 3e-4 }, "\(coherence)")
    #expect(coherence.allSatisfy { abs($0) < 3e-3 }, "\(coherence)")
    for (azimuth, angles) in zip(nominal.heard, nominal.targetHeard).enumerated() {
      #expect(
        abs(angles.0.degrees - angles.1.degrees) < 1e-3
          && abs(swapped.heard[azimuth].degrees + angles.0.degrees) < 1e-3)
    }
    #expect(nominal.levelDifferenceErrorHigh.value < 1e-6 && nominal.levelDifferenceErrorLow.value < 1e-6)
    #expect(nominal.octaveErrors.count == 6 && nominal.octaveErrors.allSatisfy { $0.value < 1e-4 })
    #expect(abs(swapped.separation.value + nominal.separation.value) < 1e-6)
    #expect(swapped.timeDifferenceLeft == -nominal.timeDifferenceLeft)
    // 6 dB more in one ear: that much error everywhere.
    #expect(abs(lopsided.levelDifferenceErrorHigh.value - 20 * log10(2)) < 1e-4)
    #expect(abs(lopsided.levelDifferenceErrorLow.value - 20 * log10(2)) < 1e-4)
    for error in lopsided.octaveErrors { #expect(abs(error.value - 20 * log10(2) / 2.0.squareRoot()) < 1e-3) }
  }

  @Test("stereo figures agree with the oracle's for the same filters") func stereoOracle() throws {
    let golden = FigureGoldens.all.stereo
    let figures = try StereoFigures(
      taps: Taps(golden.taps).scaled(by: FigureGoldens.unit), sampleRate: 48_000,
      delayFrames: 64, manifold: FreeFieldManifold(positions: Banks.ring7.device.microphones.map(\.position)),
      frame: Self.frames[0], hrtf: StereoTests.hrtf)
    #expect(abs(figures.separation.value - golden.separation) < 0.001)
    #expect(abs(figures.frontBack.value - golden.frontBack) < 0.001)
    // Both programs compute the target from the packaged file independently.
    #expect(abs(figures.levelDifferenceErrorHigh.value - golden.levelDifferenceErrorHigh) < 0.03)
    #expect(abs(figures.levelDifferenceErrorLow.value - golden.levelDifferenceErrorLow) < 0.03)
    // Steps of 2 µs here, 1.3 µs in the oracle.
    #expect(abs(figures.timeDifferenceError - golden.timeDifferenceError) < 1.5)
    for (mine, theirs) in zip(figures.octaveErrors, golden.octaveErrors) {
      #expect(abs(mine.value - theirs) < 0.03)
    }
    #expect(figures.heard.count == golden.heard.count && golden.targetHeard.count == 72)
    for (mine, theirs) in [(figures.heard, golden.heard), (figures.targetHeard, golden.targetHeard)] {
      // At a side, 2 µs are half a degree.
      for (mine, theirs) in zip(mine, theirs) { #expect(abs(mine.degrees - theirs) < 0.6) }
    }
    #expect(abs(figures.timeDifferenceJump - golden.timeDifferenceJump) < 3)
    let mean = figures.frontErrors.map(\.value).reduce(0, +) / 19
    for (mine, theirs) in zip(figures.frontErrors, golden.frontErrors) {
      #expect(abs(mine.value - mean - theirs) < 0.05)
    }
    // Over 900 directions here, 1200 in the oracle.
    #expect(abs(figures.noiseGain.value - golden.noiseGain) < 0.03)
  }

  @Test("mono figures agree with the oracle's for the same filters", .long, arguments: FigureGoldens.all.mono)
  func monoOracle(golden: FigureGoldens.Mono) throws {
    let taps = golden.taps.map { $0.map { $0 * FigureGoldens.unit } }
    let figures = try MonoFigures(
      taps: [taps, taps], sampleRate: 48_000, delayFrames: 64,
      manifold: FreeFieldManifold(positions: Banks.named(golden.device).device.microphones.map(\.position)),
      forward: .plusZ, omnidirectionalPart: 0.5)
    for (mine, theirs) in [
      (figures.directivityIndex, golden.directivityIndex), (figures.frontBack, golden.frontBack),
      (figures.patternError, golden.patternError), (figures.onAxis, golden.onAxis),
      (figures.whiteNoiseGain, golden.whiteNoiseGain),
    ] {
      #expect(mine.count == theirs.count)
      for (a, b) in zip(mine, theirs) { #expect(abs(a.value - b) < 0.002) }
    }
  }

  @Test("ceilings agree with the oracle's", arguments: FigureGoldens.all.ceilings)
  func ceilings(golden: FigureGoldens.Ceiling) throws {
    let manifold = FreeFieldManifold(
      positions: Banks.named(golden.device).device.microphones.map(\.position))
    let frame = try #require(
      HeadFrame(forward: .plusZ, orientation: InputOrientation(word: golden.inputOrientation)))
    let ceiling = try EnergyCeiling(manifold: manifold).separation(frame)
    for (centre, theirs) in zip(SeriesFigure.octaves, golden.separation) {
      #expect(abs(try #require(ceiling[centre]) - theirs) < 0.01, "\(centre) Hz")
    }
  }
}
