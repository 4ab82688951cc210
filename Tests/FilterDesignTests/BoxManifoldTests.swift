import Acoustics
import Foundation
import Manifolds
import Numerics
import TestSupport
import Testing

@Suite("The box manifold") struct BoxManifoldTests {
  static let phoneSize: SIMD3<Double> = [0.072, 0.147, 0.008]

  @Test("microphones on a box have the oracle's responses", .long, arguments: BoxGolden.all)
  func oracle(golden: BoxGolden) throws {
    try expectErrors(of: golden.box, golden) { $0 < 1200 ? -48 : $0 < 4500 ? -40 : -33 }
  }

  /// Of all microphones together: the row's figures. One that is a millimetre from an edge, where the pressure varies
  /// fastest, falls short of −30 dB: −24 dB at 8 kHz.
  @Test(
    "A11: the mesh of the designs has the responses of an independent library up to 16 kHz", .long,
    arguments: BoxGolden.independent)
  func independent(golden: BoxGolden) throws {
    // The same mesh and the same spacing of frequencies, but no further up than needed.
    var parameters = DesignParameters.Box()
    if golden.frequencies.last! < 10_000 {
      parameters.highestFrequency = Hertz(12_000)
      parameters.frequencyCount /= 2
    }
    let box = try BoxManifold(positions: golden.microphones, size: golden.size, parameters: parameters)
    let response = box.responses(from: golden.directions, frequencies: golden.frequencies)
    let isNearEdge = golden.microphones.map { microphone in
      let distances = (0..<3).map { golden.size[$0] / 2 - abs(microphone[$0]) }.sorted()
      return distances[1] < 0.002
    }
    for (f, frequency) in golden.frequencies.enumerated() {
      for near in Set(isNearEdge) {
        var (error, energy) = (0.0, 0.0)
        for m in golden.microphones.indices where isNearEdge[m] == near {
          for d in golden.directions.indices {
            error += (response[f, m, d] - golden.value(f, m, d)).squaredMagnitude
            energy += golden.value(f, m, d).squaredMagnitude
          }
        }
        let limit = frequency <= 8000 && !near ? -30.0 : -22
        #expect(
          10 * log10(error / energy) < limit, "\(golden.name), \(frequency) Hz\(near ? ", at the edge" : "")")
      }
    }
  }

  /// - Parameter limit: of the error's energy relative to that of the responses, in dB, at a frequency in hertz.
  private func expectErrors(of box: BoxManifold, _ golden: BoxGolden, limit: (Double) -> Double) throws {
    let response = box.responses(from: golden.directions, frequencies: golden.frequencies)
    for (f, frequency) in golden.frequencies.enumerated() {
      for m in golden.microphones.indices {
        var (error, energy) = (0.0, 0.0)
        for d in golden.directions.indices {
          error += (response[f, m, d] - golden.value(f, m, d)).squaredMagnitude
          energy += golden.value(f, m, d).squaredMagnitude
        }
        #expect(
          10 * log10(error / energy) < limit(frequency), "\(golden.name), \(frequency) Hz, microphone \(m)")
      }
    }
  }

  @Test("A11: a box too large for its panels is known up to what they carry, and says so") func largeBox()
    throws
  {
    var parameters = DesignParameters.Box()
    parameters.maximumPanelCount = 100
    let box = try BoxManifold(positions: [[0.1, 0, 0.15]], size: [0.3, 0.3, 0.3], parameters: parameters)
    // 0.27 wavelengths of panels: 48 of them on three faces of 150 mm.
    let width = 0.15 / 4
    #expect(box.band.upperBound <= 0.27 * 343 / width && box.band.upperBound > 0.25 * 343 / width)
    #expect(box.remarks.count == 1 && box.remarks[0].contains("kHz"))
    let phone = BoxGolden.named("phone").box
    #expect(phone.band.upperBound > 20_000 && phone.remarks.isEmpty)
  }

  @Test("a thin box shades its back as the oracle computes") func shadow() {
    let golden = BoxGolden.named("phone")
    let (f, front, towards, behind) = (2, 2, 2, 5)
    #expect(golden.frequencies[f] == 4125)
    #expect(golden.directions[towards] == [0, 0, 1] && golden.directions[behind] == [0, 0, -1])
    let response = golden.box.responses(from: golden.directions, frequencies: golden.frequencies)
    let ratio = response[f, front, towards].magnitude / response[f, front, behind].magnitude
    let expected = golden.value(f, front, towards).magnitude / golden.value(f, front, behind).magnitude
    #expect(abs(20 * log10(ratio / expected)) < 0.1)
    #expect(abs(20 * log10(ratio)) > 3, "which the free field does not know")
  }

  @Test("at low frequencies the box has no effect") func lowFrequencies() {
    let golden = BoxGolden.named("phone")
    let response = golden.box.responses(from: golden.directions, frequencies: [0, 10])
    for m in golden.microphones.indices {
      for d in golden.directions.indices {
        #expect((response[0, m, d] - .one).magnitude < 1e-9)
        #expect(abs(response[1, m, d].magnitude - 1) < 1e-3)
      }
    }
  }

  @Test("mirrored microphones have the responses of mirrored waves") func mirror() throws {
    let box = try BoxManifold(
      positions: [[0.025, -0.0735, 0.001], [-0.025, -0.0735, 0.001], [0.025, 0.0735, -0.001]],
      size: Self.phoneSize,
      parameters: .init(panelWidth: 0.008))
    let directions = fibonacciSphere(40)
    let frequencies = [700.0, 5000, 13_000]
    let response = box.responses(from: directions, frequencies: frequencies)
    for (m, mirror) in [(1, [-1, 1, 1]), (2, [1, -1, -1])] as [(Int, SIMD3<Double>)] {
      let mirrored = box.responses(from: directions.map { $0 * mirror }, frequencies: frequencies)
      for f in frequencies.indices {
        for d in directions.indices {
          #expect((response[f, 0, d] - mirrored[f, m, d]).magnitude < 1e-9)
        }
      }
    }
  }

  @Test("a microphone's response is that of its exact position, without steps between panels")
  func positions() throws {
    // Half a millimetre at a time along the face, across panels of 8 mm: no steps.
    let positions = (0..<40).map { SIMD3<Double>(0.0005 * Double($0) - 0.01, 0.05, 0.004) }
    let box = try BoxManifold(
      positions: positions, size: Self.phoneSize, parameters: .init(panelWidth: 0.008))
    let response = box.responses(from: [[0.8, 0.36, 0.48]], frequencies: [6000])
    for m in 1..<39 {
      let bend = response[0, m - 1, 0] + response[0, m + 1, 0] - 2 * response[0, m, 0]
      #expect(bend.magnitude < 0.004)
    }
  }

  @Test("the responses of microphones at edges and corners lie between those of the adjacent faces")
  func edges() throws {
    let half = Self.phoneSize / 2
    let positions: [Position] = [
      half, [half.x, half.y, 0], [0, half.y, half.z], [half.x - 0.001, 0.02, half.z],
    ]
    let box = try BoxManifold(
      positions: positions, size: Self.phoneSize, parameters: .init(panelWidth: 0.008))
    let response = box.responses(from: fibonacciSphere(60), frequencies: [1000, 8000])
    for m in positions.indices {
      for d in 0..<60 {
        #expect(abs(20 * log10(response[0, m, d].magnitude)) < 3)
        #expect(response[1, m, d].magnitude < 2.5)
      }
    }
  }

  @Test("a small cube scatters like the sphere of its volume") func cube() throws {
    let cube = try BoxManifold(
      positions: [[0, 0, 0.03]], size: [0.06, 0.06, 0.06], parameters: .init(panelWidth: 0.008))
    let radius = 0.06 * pow(3 / (4 * Double.pi), 1.0 / 3)
    let sphere = RigidSphereManifold(positions: [[0, 0, 1]], radius: radius)
    let directions = fibonacciSphere(50)
    let frequencies = [0.1, 0.3, 0.5].map { $0 * speedOfSound / (2 * .pi * radius) }
    let a = cube.responses(from: directions, frequencies: frequencies)
    let b = sphere.responses(from: directions, frequencies: frequencies)
    for f in frequencies.indices {
      for d in directions.indices {
        #expect(abs(20 * log10(a[f, 0, d].magnitude / b[f, 0, d].magnitude)) < 1)
      }
    }
  }

  /// Plain collocation fails at every resonance of the interior, at frequencies that depend on the mesh.
  @Test("a thick box has no spurious interior resonances") func resonances() throws {
    let positions: [Position] = [[0.01, 0.005, 0.03], [-0.03, 0.02, 0.011]]
    let directions = fibonacciSphere(60)
    let frequencies = stride(from: 3000.0, through: 10_000, by: 375).map { $0 }
    let grids = try [0.0075, 0.006].map {
      try BoxManifold(positions: positions, size: [0.06, 0.06, 0.06], parameters: .init(panelWidth: $0))
        .responses(from: directions, frequencies: frequencies)
    }
    for f in frequencies.indices {
      var (error, energy) = (0.0, 0.0)
      for m in positions.indices {
        for d in directions.indices {
          error += (grids[0][f, m, d] - grids[1][f, m, d]).squaredMagnitude
          energy += grids[1][f, m, d].squaredMagnitude
        }
      }
      #expect(10 * log10(error / energy) < -25, "\(frequencies[f]) Hz")
    }
  }

  @Test(
    "impossible sizes of a box are refused",
    arguments: [[0.072, 0.147, 0], [0.072, 0.147, 8], [.nan, 0.1, 0.1]] as [SIMD3<Double>])
  func sizes(size: SIMD3<Double>) {
    #expect(throws: DesignError.self) { try BoxManifold(positions: [[0, 0, 0.004]], size: size) }
  }

  @Test("a microphone off the surface is refused") func offSurface() {
    #expect(throws: DesignError.self) {
      try BoxManifold(positions: [[0, 0.065, 0.009]], size: Self.phoneSize)
    }
    #expect(throws: DesignError.self) { try BoxManifold(positions: [[0, 0, 0]], size: Self.phoneSize) }
  }
}

extension BoxGolden {
  /// The box with the parameters of designs.
  fileprivate var box: BoxManifold { Self.boxes[name]! }

  fileprivate func value(_ f: Int, _ m: Int, _ d: Int) -> Complex {
    Complex(real[f][m][d], imaginary[f][m][d])
  }

  private static let boxes = Dictionary(
    uniqueKeysWithValues: all.map {
      ($0.name, try! BoxManifold(positions: $0.microphones, size: $0.size))
    })
}
