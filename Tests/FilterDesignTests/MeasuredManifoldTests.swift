import Acoustics
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

@Suite("Measured arrays") struct MeasuredManifoldTests {
  static let golden = repositoryFolder + "/Tests/Golden"
  /// Directions that were not measured.
  static let directions = fibonacciSphere(600).map { SIMD3($0.z, $0.x, $0.y) }
  static let frequencies = [0, 100, 500, 1000, 2000, 4000, 8000, 12_000, 15_000.0]

  @Test("a free-field array in a SOFA file with a turned listener has its microphones at their positions")
  func turnedSofa() throws {
    // measured.py puts them at (30, 0, 0), (0, 20, 0) and (-10, -10, 25) mm: forward, left, up.
    let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]
    let manifold = try MeasuredManifold(.sofa(path: Self.golden + "/turned.sofa"), positions: positions)
    let wanted = FreeFieldManifold(positions: positions)
    let frequencies = Self.frequencies + [19_000, 40_000]
    // Delays are single floats near 100 frames: 4e-6 frames, 1e-5 rad at 19 kHz. The penalty on order 0 is
    // 1e-7.
    for level in errorLevels(
      manifold.responses(from: Self.directions, frequencies: frequencies),
      wanted.responses(from: Self.directions, frequencies: frequencies))
    { #expect(level < -90, "\(level)") }
  }

  @Test(
    "azimuth 90 is +x, the left of an observer who looks out of the front, and elevation 90 is +y")
  func axes() throws {
    let sides: [SIMD3<Double>] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    let positions = sides.map { 0.02 * $0 }
    let free = FreeFieldManifold(positions: positions)
    let files = try MeasuredFiles(free, directions: sides + fibonacciSphere(60))
    let lines = try String(contentsOfFile: files.table, encoding: .utf8).split(separator: "\n")
    #expect(
      lines[2...7] == ["90.0, 0.0", "-90.0, 0.0", "0.0, 90.0", "0.0, -90.0", "0.0, 0.0", "180.0, 0.0"])
    let response = try MeasuredManifold(files.measurement, positions: positions).responses(
      from: sides, frequencies: [1000])
    let lead: Double = 2 * .pi * 1000 * 0.02 / 343
    for side in 0..<6 {
      #expect(abs(response[0, side, side].phase - lead) < 1e-3)
      #expect(abs(response[0, side ^ 1, side].phase + lead) < 1e-3)
    }
  }

  @Test(
    "responses from mirror images are those from each direction by itself",
    arguments: [fibonacciSphere(60), HorizontalMeasurementTests.circle(36, offset: 2.5)])
  func mirrorImages(measured: [SIMD3<Double>]) throws {
    let positions: [Position] = [[0.01, 0.02, 0.03], [-0.02, 0, 0.01]]
    let files = try MeasuredFiles(FreeFieldManifold(positions: positions), directions: measured)
    let manifold = try MeasuredManifold(files.measurement, positions: positions)
    let (sphere, frequencies) = (cubedSphere(150), [500.0, 4000])
    let together = manifold.responses(from: sphere, frequencies: frequencies)
    for (d, direction) in sphere.enumerated() {
      let own = manifold.responses(from: [direction], frequencies: frequencies)
      for f in 0..<2 {
        for m in 0..<2 { #expect((own[f, m, 0] - together[f, m, d]).magnitude < 1e-12) }
      }
    }
  }

  /// A sphere of a head's size with one microphone at the side and one below, in the gap.
  static let head = RigidSphereManifold(positions: [[0.0875, 0, 0], [0, -0.0875, 0]], radius: 0.0875)

  static func levels(_ measurement: ArrayMeasurement, of sphere: RigidSphereManifold, inCap: Bool = false)
    throws -> [Double]
  {
    let manifold = try MeasuredManifold(measurement, positions: sphere.positions)
    let wanted = sphere.responses(from: directions, frequencies: frequencies)
    let found = manifold.responses(from: directions, frequencies: frequencies)
    return errorLevels(fitted(found, to: wanted, frequencies: frequencies), wanted) {
      !inCap || directions[$0].y < -0.7
    }
  }

  // A numpy study, order 16 of a rigid sphere of 87.5 mm in 440 directions: -65 dB at 4 kHz, -34 dB at 8 kHz,
  // -29 dB at 16 kHz. A common delay and gain leave about -50 dB. Below 200 Hz a linear phase and a constant
  // level replace what loudspeakers cannot measure.
  @Test("the manifold of a measured rigid sphere is the sphere's, up to delay and gain")
  func sphere() throws {
    let files = try MeasuredFiles(Self.head, directions: fibonacciSphere(440))
    let levels = try Self.levels(files.measurement, of: Self.head)
    for (f, most) in zip(levels.indices, [-35, -35, -45, -45, -45, -45, -33, -28, -26.0]) {
      #expect(levels[f] < most, "\(Self.frequencies[f]) Hz: \(levels[f]) dB")
    }
  }

  // The same study: at most -35 dB over the sphere up to 4 kHz, -27 dB in the unmeasured cap of 50 degrees.
  @Test("the unmeasured cap below an arc of loudspeakers is extrapolated")
  func gap() throws {
    let files = try MeasuredFiles(Self.head, directions: MeasuredFiles.kemarGrid)
    for inCap in [false, true] {
      let levels = try Self.levels(files.measurement, of: Self.head, inCap: inCap)
      for f in 2...5 {
        #expect(levels[f] < (inCap ? -25 : -32), "\(Self.frequencies[f]) Hz: \(levels[f]) dB")
      }
    }
  }

  // Samples are multiples of 2^-15, 64 of them leave -75 dB; order 9 of 150 directions errs by -50 dB at 4
  // kHz.
  @Test("a SOFA file of another program gives the array that the program simulated")
  func sphereSofa() throws {
    let positions: [Position] = [[0, 0, 0.04], [0, 0, -0.04]]
    let levels = try Self.levels(
      .sofa(path: Self.golden + "/sphere.sofa"), of: RigidSphereManifold(positions: positions, radius: 0.04))
    for f in 2...5 { #expect(levels[f] < -40, "\(Self.frequencies[f]) Hz: \(levels[f]) dB") }
  }

  @Test("beyond a low sample rate's band, the response is held constant except for the microphones' delays")
  func highFrequencies() throws {
    let positions: [Position] = [[0, 0, 0.02], [0, 0, -0.02]]
    let free = FreeFieldManifold(positions: positions)
    let files = try MeasuredFiles(free, directions: fibonacciSphere(80), sampleRate: 16_000)
    let manifold = try MeasuredManifold(files.measurement, positions: positions)
    let grid = manifold.responses(from: Self.directions, frequencies: [7200, 20_000, 90_000])
    let wanted = free.responses(from: Self.directions, frequencies: [7200, 20_000, 90_000])
    for d in Self.directions.indices {
      for m in 0..<2 {
        let held = grid[0, m, d] / wanted[0, m, d]
        #expect(held.magnitude > 0.01)
        for f in 1...2 { #expect((grid[f, m, d] / wanted[f, m, d] - held).magnitude < 1e-6) }
      }
    }
  }
}
