import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

@Suite("Filters of a measured array") struct MeasuredDesignTests {
  static func device(_ body: Body) -> Device {
    try! Device(
      name: "ball", title: "Ball", body: body,
      microphones: TestDevices.microphones([("front", 0, 0, 40), ("back", 0, 0, -40)]),
      dataSources: [
        TestDevices.source("Front", .front, .plusZ, microphones: [0, 1], [.omnidirectional, .cardioid])
      ])
  }

  static let sofa = ArrayMeasurement.sofa(path: MeasuredManifoldTests.golden + "/sphere.sofa")

  // The manifold errs by -47 dB up to 4 kHz and weights raise noise by at most 10 dB, so the patterns differ
  // by -37 dB: directivity by less than 0.2 dB, and a front/back ratio of 20 dB by 1.2 dB (1 + 10^((20 - 37)
  // / 20) = 1.15).
  @Test("the cardioid designed on a measured array equals that of its body, evaluated on the body")
  func cardioid() throws {
    let onBody = Self.device(.sphere(radius: 0.04))
    let figures = try [Body.measured(Self.sofa), onBody.body].map { body in
      let bank = try FilterBank.design(device: Self.device(body), sampleRate: 48_000)
      let cardioid = FilterCase(dataSource: "Front", polarPattern: .cardioid, inputOrientation: nil)
      return try MonoFigures(bank.coefficients(for: cardioid)!, bank: bank, device: onBody)
    }
    let (measured, body) = (figures[0], figures[1])
    for octave in 1...5 {
      #expect(abs(measured.directivityIndex[octave].value - body.directivityIndex[octave].value) < 0.2)
      #expect(min(20, measured.frontBack[octave].value) > min(20, body.frontBack[octave].value) - 1.2)
      #expect(abs(measured.onAxis[octave].value - body.onAxis[octave].value) < 0.3)
    }
    #expect(measured.directivityIndex[2].value > 4)
  }

  // The manifolds differ by less than -90 dB. The rest is due to where the minimisation stops: each design may
  // end with an energy error of 10^-3, -30 dB.
  @Test(
    "filters of an array measured in the free field equal those of its closed form, stereo included", .long)
  func stereo() throws {
    let positions = FreeFieldManifold(positions: HostileMeasurementTests.positions)
    let files = try MeasuredFiles(positions, directions: fibonacciSphere(120))
    func device(_ body: Body) -> Device {
      try! Device(
        name: "three", title: "Three", body: body,
        microphones: positions.positions.enumerated().map { Microphone(name: "m\($0)", position: $1) },
        dataSources: [
          TestDevices.source(
            "Front", .front, .plusZ, microphones: [0, 1, 2], [.cardioid, .stereo], stereo: [.portrait])
        ])
    }
    let measured = try FilterBank.design(device: device(.measured(files.measurement)), sampleRate: 16_000)
    let closed = try FilterBank.design(device: device(.free), sampleRate: 16_000)
    let stereo = try StereoDesign(
      hrtf: StereoTests.hrtf, grid: DesignGrid(sampleRate: 16_000), parameters: DesignParameters())
    for (a, b) in zip(measured.cases, closed.cases) {
      // The design does not know what was measured: it uses the listener's parameters, not those of a free
      // array.
      let expected =
        b.filterCase.polarPattern == .stereo
        ? try stereo.filters(
          manifold: positions, frame: HeadFrame(forward: .plusZ, orientation: .portrait)!
        ) : b.taps
      // A bank's cases are scaled for their loudness; `StereoDesign` knows nothing of it.
      let products = zip(a.taps.values, expected.values).reduce((0.0, 0.0)) {
        ($0.0 + Double($1.0 * $1.1), $0.1 + Double($1.1 * $1.1))
      }
      let scale = Float(products.0 / products.1)
      let pairs = zip(a.taps.values, expected.values.map { scale * $0 })
      let (error, energy) = pairs.reduce((0.0, 0.0)) { sum, taps in
        (sum.0 + pow(Double(taps.0 - taps.1), 2), sum.1 + pow(Double(taps.1), 2))
      }
      #expect(10 * log10(error / energy) < -30, "\(a.filterCase): \(10 * log10(error / energy)) dB")
    }
  }

  @Test("the cache key depends on a measurement's content and not on its path")
  func key() throws {
    let files = try TemporaryFolder()
    let bytes = try Data(contentsOf: URL(filePath: MeasuredManifoldTests.golden + "/turned.sofa"))
    func key(_ measurement: ArrayMeasurement) -> String {
      DesignKey(device: Self.device(.measured(measurement)), sampleRate: 48_000).hash
    }
    let path = try files.write(bytes, to: "a.sofa")
    let first = key(.sofa(path: path))
    #expect(try key(.sofa(path: files.write(bytes, to: "b/c.sofa"))) == first)
    let table = try files.write("0, 0\n", to: "t.csv")
    let keys = [
      first, key(.impulseResponses(path: path, directions: table)),
      key(.impulseResponses(path: path, directions: path)),
      key(.impulseResponses(path: table, directions: path)), key(.sofa(path: table)),
    ]
    #expect(Set(keys).count == keys.count)
    var changed = bytes
    changed[changed.count / 2] ^= 1
    #expect(try key(.sofa(path: files.write(changed, to: "a.sofa"))) != first)
  }

  @Test("filters of a measured array are cached")
  func cache() throws {
    let folder = try TemporaryFolder()
    let device = Self.device(.measured(Self.sofa))
    let first = try FilterBank.cached(device: device, sampleRate: 16_000, cache: folder.path)
    let second = try FilterBank.cached(device: device, sampleRate: 16_000, cache: folder.path) { _ in
      Issue.record("designed again")
    }
    #expect(first == second)
  }
}
