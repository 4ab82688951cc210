import Acoustics
import Figures
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

/// What a listener notices of a stereo case, against closed forms.
@Suite("What a listener notices") struct HeardAngleTests {
  private static let frame = FigureTests.frames[0]

  /// Ears that hear every sound equally loud; the left one hears it earlier.
  private struct DelayedEars: ArrayManifold {
    let positions: [Position] = [.zero, .zero]
    /// In seconds, by azimuth in degrees from 0 to 360.
    let lead: @Sendable (Double) -> Double

    func responses(from directions: [SIMD3<Double>], frequencies: [Double]) -> ResponseGrid {
      var grid = ResponseGrid(frequencies: frequencies.count, channels: 2, directions: directions.count)
      for (d, direction) in directions.enumerated() {
        let head = frame.head(fromDevice: direction)
        let degrees = (atan2(head.y, head.x) * 180 / .pi * 1e6).rounded() / 1e6
        let lead = lead(degrees < 0 ? degrees + 360 : degrees)
        for (f, frequency) in frequencies.enumerated() {
          grid[f, 0, d] = Complex(phase: .pi * frequency * lead)
          grid[f, 1, d] = Complex(phase: -.pi * frequency * lead)
        }
      }
      return grid
    }
  }

  /// The figures of filters that play each microphone as one ear.
  private static func figures(
    _ manifold: any ArrayManifold, taps: Taps<Float> = FigureTests.impulses([[1, 0], [0, 1]])
  ) throws -> StereoFigures {
    try StereoFigures(
      taps: taps, sampleRate: 48_000, delayFrames: 64, manifold: manifold, frame: frame,
      hrtf: StereoTests.hrtf)
  }

  @Test(
    "two microphones in the free field are heard where the sine of the azimuth puts them",
    arguments: [0.03, 0.09, 0.15])
  func twoMicrophones(distance: Double) throws {
    let figures = try Self.figures(DelayedEars { distance / 343 * sin($0 * .pi / 180) })
    // Two thirds of the way to the side at 655 µs, as an angle around a sphere: θ + sin θ = 1 + π/2 at the side.
    func expect(_ heard: Angle, azimuth: Double) {
      let position = 2.0 / 3 * distance / 343 / 655e-6 * sin(azimuth * .pi / 180)
      let turned = heard.radians + sin(heard.radians)
      // Time differences are found to 1 µs.
      #expect(abs(turned - position * (1 + .pi / 2)) < 0.003, "\(azimuth)°: \(heard.degrees)°")
    }
    #expect(figures.heard.count == 72)
    for (n, heard) in figures.heard.enumerated() { expect(heard, azimuth: 5 * Double(n)) }
    expect(figures.heardAtSides, azimuth: 90)
    expect(.degrees(abs(figures.heardBehind.degrees)), azimuth: 165)
    // Steepest straight ahead and behind.
    #expect(abs(figures.timeDifferenceJump - 1e6 * distance / 343 * sin(5 * .pi / 180)) <= 2)
  }

  @Test("a jump of the time difference is found behind, and where the circle closes")
  func jumps() throws {
    let behind = try Self.figures(DelayedEars { $0 > 172 && $0 < 188 ? -300e-6 : 100e-6 })
    #expect(abs(behind.timeDifferenceJump - 400) <= 2)
    #expect(behind.heardBehind.degrees < 0 && behind.heardInFront.degrees > 0)
    let closing = try Self.figures(DelayedEars { 400e-6 * (1 - $0 / 360) })
    // From 355° to 0°.
    #expect(abs(closing.timeDifferenceJump - 400 * 355 / 360) <= 2)
    #expect(abs(closing.heardBehind.degrees - closing.heard[33].degrees) < 1e-9)
  }

  @Test("an echo makes a comb straight ahead, third octave by third octave")
  func comb() throws {
    // H = 1 + e^(−jω 24/48000) / 2: −6 dB at 1 kHz, +3.5 dB at 2 kHz.
    let echo = FigureTests.Ears(frame: Self.frame)
    let comb = Taps<Float>(
      (0..<2).map { output in
        (0..<2).map { microphone in
          (0..<256).map { output == microphone ? $0 == 64 ? 1 : $0 == 88 ? 0.5 : 0 : 0 }
        }
      })
    let plain = try Self.figures(echo)
    let figures = try Self.figures(echo, taps: comb)
    #expect(plain.frontErrors.count == 19 && figures.frontErrors.count == 19)
    // The listener's own ears lack only the constant that makes voices as loud as at one microphone.
    let constant = plain.frontErrors[0].value
    #expect(plain.frontErrors.allSatisfy { abs($0.value - constant) < 1e-6 } && abs(constant) < 5)
    let bins = (0..<512).map { Double($0) * 46.875 }
    let ears = StereoDesign.target(StereoTests.hrtf, from: [[1, 0, 0]], frequencies: bins)
    // The two lowest third octaves have one bin or none.
    for third in 2..<19 {
      let centre = 1000 * pow(2, Double(third - 10) / 3)
      var (energy, combed) = (0.0, 0.0)
      for (f, frequency) in bins.enumerated() where abs(log2(frequency / centre)) < 1.0 / 6 {
        let power = ears[f, 0, 0].squaredMagnitude + ears[f, 1, 0].squaredMagnitude
        energy += power
        combed += power * (1.25 + cos(2 * .pi * frequency * 24 / 48_000))
      }
      let expected = 10 * log10(combed / energy)
      #expect(abs(figures.frontErrors[third].value - constant - expected) < 1e-3, "\(centre) Hz")
    }
    let dip = try #require(
      figures.frontErrors.indices.min { figures.frontErrors[$0] < figures.frontErrors[$1] })
    #expect(SeriesFigure.thirdOctaves[dip] == 1000)
  }

  @Test("microphones in a diffuse field are as coherent as their distance in wavelengths says")
  func coherence() throws {
    let distances = [0.03, 0.15]
    let errors = try distances.map { distance in
      try Self.figures(FreeFieldManifold(positions: [[distance / 2, 0, 0], [-distance / 2, 0, 0]]))
        .coherenceErrors
    }
    /// |sin kd / kd| of the mean over an octave.
    func coherence(_ distance: Double, _ centre: Double) -> Double {
      let bins = (1..<427).map { Double($0) * 46.875 }.filter {
        $0 >= centre / 2.0.squareRoot() && $0 < centre * 2.0.squareRoot()
      }
      let phases = bins.map { 2 * .pi * $0 / 343 * distance }
      return abs(phases.map { sin($0) / $0 }.reduce(0, +)) / Double(bins.count)
    }
    for (octave, centre) in [125.0, 250, 500, 1000, 2000, 4000, 8000].enumerated() {
      // What both are compared with cancels. 900 directions stand for the sphere.
      let difference = errors[0][octave] - errors[1][octave]
      let expected = coherence(distances[0], centre) - coherence(distances[1], centre)
      #expect(abs(difference - expected) < 5e-3, "\(centre) Hz")
    }
  }

  @Test("curves of a case go through its figures")
  func curves() throws {
    let designed = Banks.ring7
    let coefficients = designed.coefficients("Front", .stereo, .portrait)
    let curves = try CaseCurves(
      coefficients, bank: designed.bank, device: designed.device, hrtf: StereoTests.hrtf)
    let figures = try StereoFigures(coefficients, bank: designed.bank, device: designed.device)
    for n in 0..<72 {
      #expect(abs(curves.heard[2 * n] - figures.heard[n].degrees) < 1e-6)
      #expect(abs(curves.targetHeard[2 * n] - figures.targetHeard[n].degrees) < 1e-6)
    }
    #expect(curves.thirdOctaves.count == 19 && curves.coherence.count == curves.octaves.count)
    for (curve, figure) in zip(curves.frontErrors, figures.frontErrors) {
      #expect(abs(curve - figure.value) < 1e-6)
    }
    // 400 directions there, 900 here.
    for (n, error) in figures.coherenceErrors.enumerated() {
      #expect(abs(curves.coherence[n] - curves.targetCoherence[n] - error) < 0.03)
    }
  }
}
