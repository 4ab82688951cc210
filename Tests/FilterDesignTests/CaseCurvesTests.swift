import Acoustics
import Figures
import FilterDesign
import Foundation
import HeadResponses
import Testing

@Suite("Curves of a case") struct CaseCurvesTests {
  private static let delay = 64

  /// A bank of one case whose outputs are single microphones.
  private func bare(_ device: Device, _ filterCase: FilterCase, left: Int, right: Int) -> FilterBank {
    let taps = [left, right].map { chosen in
      device.microphones.indices.map { microphone in
        (0..<256).map { $0 == Self.delay && microphone == chosen ? Float(1) : 0 }
      }
    }
    return FilterBank(
      device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name),
      delayFrames: Self.delay, tapCount: 256,
      cases: [FilterCoefficients(filterCase: filterCase, taps: Taps(taps))])
  }

  private func device(_ body: Body, _ positions: [Position], _ patterns: [PolarPattern]) -> Device {
    let source = DataSource(
      name: "Front", id: 1, location: nil, orientation: .front, forward: .plusZ,
      microphones: Array(positions.indices), polarPatterns: patterns, stereoOrientations: [.portrait])
    return try! Device(
      name: "curves", title: "Curves", body: body,
      microphones: positions.enumerated().map { Microphone(name: "m\($0)", position: $1) },
      dataSources: [source])
  }

  @Test("one microphone in the free field and its target have 0 dB everywhere")
  func omnidirectional() throws {
    let device = device(.free, [[0.01, 0.02, 0.03]], [.omnidirectional])
    let bank = bare(device, device.filterCases[0], left: 0, right: 0)
    let curves = try CaseCurves(bank.cases[0], bank: bank, device: device, hrtf: HRTF())
    #expect(curves.azimuths.count == 144 && curves.octaves.count == 8)
    let levels = [curves.levels, curves.elevationLevels, curves.targetLevels].flatMap { $0 }.joined().joined()
    #expect(levels.count == 3 * 8 * 144)
    let all = Array(levels) + (curves.onAxis + curves.targetOnAxis + curves.noiseGain).flatMap(\.self)
    // Every energy has 1e-12 added, which is 4e-12 dB.
    #expect(all.allSatisfy { abs($0) < 1e-6 }, "\(all.map(abs).max()!)")
  }

  @Test(
    "a pattern that looks aside is plotted where it looks, from the frame of somebody who looks ahead; 0 dB is its axis"
  )
  func aside() throws {
    let device = device(.free, [[0.01, 0.02, 0.03], .zero], [.cardioid])
    let viewer = device.frame(of: device.dataSources[0], .portrait)
    for (azimuth, elevation) in [(60.0, 0.0), (-90, 30)] {
      let look = try #require(Look(azimuth: azimuth, elevation: elevation))
      let aside = try #require(
        try device.ownDevice(
          of: Selection(
            dataSource: "Front", polarPattern: .cardioid, inputOrientation: .portrait, look: look)))
      let bank = bare(aside, aside.filterCases[0], left: 0, right: 0)
      let curves = try CaseCurves(bank.cases[0], bank: bank, device: aside, hrtf: HRTF(), seenFrom: viewer)
      for (n, at) in curves.azimuths.enumerated() {
        // cos θ between the look and a direction of the horizon.
        let cosine = cos((at - azimuth) * .pi / 180) * cos(elevation * .pi / 180)
        let expected = 20 * log10(abs(0.5 + 0.5 * cosine) + 1e-9)
        for octave in curves.octaves.indices {
          #expect(expected < -60 || abs(curves.targetLevels[octave][0][n] - expected) < 1e-3)
          // One omnidirectional microphone.
          #expect(abs(curves.levels[octave][0][n]) < 1e-6)
        }
      }
      #expect(curves.targetOnAxis[0].allSatisfy { abs($0) < 1e-6 })
    }
  }

  @Test("in stereo curves, positive azimuths are on the left ear's side in levels, differences and times")
  func sides() throws {
    // The right of an observer who faces the device is the left of the device's own view.
    let device = device(.sphere(radius: 0.0875), [[0.0875, 0, 0], [-0.0875, 0, 0]], [.stereo])
    let bank = bare(device, device.filterCases[0], left: 0, right: 1)
    let curves = try CaseCurves(bank.cases[0], bank: bank, device: device, hrtf: HRTF())
    func index(_ azimuth: Double) throws -> Int { try #require(curves.azimuths.firstIndex(of: azimuth)) }
    let (left, right) = (try index(90), try index(270))
    // A sphere has a bright spot opposite the source, so levels are compared in front of it.
    let (leftAhead, rightAhead) = (try index(60), try index(300))
    for (times, levels) in [
      (curves.timeDifferences, curves.levelDifferences),
      (curves.targetTimeDifferences, curves.targetLevelDifferences),
    ] {
      // Around a head of radius a: a (π/2 + 1) / c = 656 µs at high, 3 a / c = 765 µs at low frequencies.
      // KEMAR's ears are close to that.
      #expect((600...820).contains(times[left]), "\(times[left])")
      #expect((-820 ... -600).contains(times[right]), "\(times[right])")
      #expect(levels.count == 2)
      for band in levels { #expect(band[leftAhead] > 3 && band[rightAhead] < -3, "\(band[leftAhead])") }
    }
    // From 2 kHz on the sphere casts a shadow: it is as large as a wavelength (2πa/λ = 3.2).
    for octave in curves.octaves.indices where curves.octaves[octave] >= 2000 {
      #expect(curves.levels[octave][0][leftAhead] > curves.levels[octave][0][rightAhead] + 6)
      #expect(curves.levels[octave][1][rightAhead] > curves.levels[octave][1][leftAhead] + 6)
      // Both the sphere and the microphones are symmetrical.
      #expect(abs(curves.levels[octave][0][leftAhead] - curves.levels[octave][1][rightAhead]) < 1e-6)
    }
    #expect(curves.elevationLevels.allSatisfy { $0.isEmpty })
    for (levels, target) in zip(curves.diffuse, curves.targetDiffuse) {
      #expect(levels.count == curves.frequencies.count)
      // The design keeps the target's energy in the diffuse field, but for one gain that makes the front as loud as a
      // microphone.
      let errors = curves.frequencies.indices.filter { (200...10_000).contains(curves.frequencies[$0]) }.map {
        levels[$0] - target[$0]
      }
      let median = errors.sorted()[errors.count / 2]
      for error in errors { #expect(abs(error - median) < 3) }
    }
    #expect(curves.diffuse.count == 2)
    for (left, right) in zip(curves.diffuse[0], curves.diffuse[1]) { #expect(abs(left - right) < 0.5) }
  }
}
