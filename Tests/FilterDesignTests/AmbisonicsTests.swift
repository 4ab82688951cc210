import Acoustics
import Figures
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import Numerics
import Presets
import TestSupport
import Testing

/// B-format from any array, against `Tests/Golden/ambisonics.py`, which finds weights for other manifolds by itself.
@Suite("Ambisonics") struct AmbisonicsTests {
  struct Golden: Decodable, CustomStringConvertible, Sendable {
    let array: String
    let order: Int
    let originMM: [Double]
    /// `[channel][octave]`; nothing is equalised.
    let correlation: [[Double]]
    let level: [[Double]]
    var description: String { "\(array) about \(originMM)" }
    var origin: Position { Position(originMM[0], originMM[1], originMM[2]) / 1000 }
  }

  struct Goldens: Decodable {
    let octaves: [Int]
    /// Where the oracle has the microphones of phone5, in millimetres.
    let phone5: [[Double]]
    let rows: [Golden]
  }

  static let all: Goldens = {
    let data = try! Data(contentsOf: URL(filePath: "\(repositoryFolder)/Tests/Golden/ambisonics.json"))
    return try! JSONDecoder().decode(Goldens.self, from: data)
  }()
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  static func device(_ name: String) throws -> Device {
    let diagonal = [[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]].map {
      Position($0[0], $0[1], $0[2]) / 3.0.squareRoot()
    }
    let axes: [Position] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]
    func array(_ body: Body, _ microphones: [Microphone]) throws -> Device {
      try Device(
        name: name, title: name, body: body, microphones: microphones,
        dataSources: [
          TestDevices.source(
            "Front", .front, .plusZ, microphones: Array(microphones.indices), [.omnidirectional])
        ])
    }
    switch name {
    case "omnidirectional tetrahedron":
      return try array(
        .free, diagonal.enumerated().map { Microphone(name: "m\($0)", position: 0.010 * $1) })
    case "cardioid tetrahedron":
      return try array(
        .free,
        diagonal.enumerated().map {
          Microphone(
            name: "m\($0)", position: 0.0147 * $1,
            capsule: Capsule(omnidirectionalPart: 0.5, facing: Direction($1)!))
        })
    case "six on a sphere":
      return try array(
        .sphere(radius: 0.05), axes.enumerated().map { Microphone(name: "m\($0)", position: 0.05 * $1) })
    case "phone5":
      return try array(
        .box(size: [0.072, 0.147, 0.008]),
        all.phone5.enumerated().map {
          Microphone(name: "m\($0)", position: Position($1[0], $1[1], $1[2]) / 1000)
        })
    default: return try library.device(named: name)
    }
  }

  static let portrait = HeadFrame(forward: .plusZ, orientation: .portrait)!

  static func figures(
    _ taps: Taps<Float>, origin: Position, order: Int, manifold: any ArrayManifold,
    frame: HeadFrame = portrait, sampleRate: Int = 48_000, delayFrames: Int = 64
  ) throws -> AmbisonicsFigures {
    let view = CaseView.ambisonics(AmbisonicsView(frame: frame, order: order, origin: origin))
    let field = try MeasuringField(
      manifold: manifold, views: [view], frequencies: DesignGrid(sampleRate: sampleRate).frequencies)
    let reader = try FigureReader(
      [(view, taps)], sampleRate: sampleRate, delayFrames: delayFrames, field: field, hrtf: nil)
    return try #require(try reader.read()[0].ambisonics)
  }

  /// Designed about a given origin, or the one that is found.
  static func figures(_ device: Device, order: Int, origin: Position? = nil) throws -> AmbisonicsFigures {
    useSingleThreadedBLAS()
    let manifold = try manifold(for: device)
    let design = AmbisonicsDesign(
      manifold: manifold, frame: portrait, order: order, grid: DesignGrid(sampleRate: 48_000))
    let (taps, found) = try design.filters(origin: origin, step: .unobserved)
    return try figures(taps, origin: found, order: order, manifold: manifold)
  }

  /// Of correlations to hundredths.
  static let rounding = 0.005
  /// Softer channels than this, in dB, are not compared: what 256 taps leak exceeds them.
  static let leastLevel = -50.0

  @Test(
    "finished filters come within 0.03 of the correlation that exact weights reach, and within 1 dB of the level from −3 dB on",
    arguments: all.rows)
  func goldens(_ golden: Golden) throws {
    let figures = try Self.figures(
      Self.device(golden.array), order: golden.order, origin: golden.origin)
    for (channel, found) in figures.channels.enumerated() {
      let levels = golden.level[channel]
      guard levels.max()! > -60 else {
        #expect(found.isSilent, "\(golden) \(found.name)")
        continue
      }
      let first = levels.firstIndex { $0 >= -3 } ?? levels.count
      // The table of spheres begins at 250 Hz: the lowest octave of theirs that is 2 dB soft stays so.
      let lowest = golden.order > 1 ? 250 : 125
      for (octave, centre) in Self.all.octaves.enumerated()
      where levels[octave] > Self.leastLevel && centre >= lowest {
        #expect(
          try #require(found.correlation[centre]) > golden.correlation[channel][octave] - 0.03
            - Self.rounding,
          "\(golden) \(found.name) at \(centre) Hz")
        // The equalisation raises by 20 dB at most.
        guard octave >= first, levels[octave] > -20 else { continue }
        #expect(
          abs(try #require(found.levelDB[centre])) < 1, "\(golden) \(found.name) at \(centre) Hz")
      }
    }
  }

  @Test(
    "the origin that is found is at least as good on average as the best known one",
    arguments: all.rows.filter { $0.order == 1 })
  func origin(_ golden: Golden) throws {
    let figures = try Self.figures(Self.device(golden.array), order: 1)
    let known = mean(golden.correlation.flatMap(\.self))
    let found = mean(figures.channels.flatMap(\.correlation.values))
    #expect(found > known - 0.01, "\(golden): \(found), \(known), \(figures.originMM)")
  }

  @Test(
    "noise stays within 14 dB of the harmonic's level", arguments: ["phone5", "glasses8", "ring7", "em32"])
  func noise(name: String) throws {
    let figures = try Self.figures(Self.device(name), order: name == "em32" ? 4 : 1)
    for channel in figures.channels {
      #expect((channel.noiseDB ?? 0) < CaseCriteria.ambisonicsNoise.value, "\(name) \(channel.name)")
    }
  }

  /// The bank of a device's B-format, as a user gets it.
  static func bank(_ name: String, order: Int, _ source: String? = nil) throws -> FilterBank {
    useSingleThreadedBLAS()
    let device = try device(name)
    return try FilterBank.design(device: ambisonics(device, order: order, source), sampleRate: 48_000)
  }

  static func ambisonics(
    _ device: Device, order: Int, _ source: String? = nil, _ orientation: InputOrientation = .portrait
  ) throws -> Device {
    try device.ambisonics(
      Selection(
        dataSource: source ?? device.dataSources[0].name, polarPattern: .ambisonics(order: order)!,
        inputOrientation: orientation))
  }

  @Test(
    "an order is offered where it lives in two octaves: Zylia 1 to 3, em32 1 to 4, six on a sphere 1",
    arguments: [("zylia-zm1", 3), ("em32", 4), ("six on a sphere", 1)])
  func orders(name: String, highest: Int) throws {
    for order in PolarPattern.ambisonicsOrders {
      let bank: FilterBank
      do {
        bank = try Self.bank(name, order: order)
      } catch is Unsupported {
        // Too few microphones: nothing is designed.
        #expect(order > highest, "\(name) \(order)")
        continue
      }
      #expect(bank.refusals.isEmpty == (order <= highest), "\(name) \(order): \(bank.refusals)")
      if order <= highest { #expect(bank.cases[0].taps.outputs == (order + 1) * (order + 1)) }
    }
  }

  @Test("an array in a plane has horizontal B-format: Z is zeros, and is named")
  func horizontal() throws {
    let bank = try Self.bank("ring7", order: 1)
    let taps = try #require(bank.cases.first).taps
    #expect(taps[2].allSatisfy { $0.allSatisfy { $0 == 0 } })
    #expect(taps[1].contains { $0.contains { $0 != 0 } })
    #expect(try #require(bank.weaknesses.first).text.contains("Z is silence"))
  }

  @Test("a single microphone and a pair that stands upright have no B-format")
  func refused() throws {
    let pair = try Device(
      name: "upright", title: "Upright", body: .free,
      microphones: TestDevices.microphones([("top", 0, 20, 0), ("bottom", 0, -20, 0)]),
      dataSources: [TestDevices.source("Front", .front, .plusZ, microphones: [0, 1], [.omnidirectional])])
    let bank = try FilterBank.design(device: Self.ambisonics(pair, order: 1), sampleRate: 48_000)
    #expect(bank.cases.isEmpty)
    #expect(try #require(bank.refusals.first).text.contains("Y is silence and X is silence"))
    let single = try Device(
      name: "single", title: "Single", body: .free,
      microphones: TestDevices.microphones([("top", 0, 20, 0)]),
      dataSources: [TestDevices.source("Front", .front, .plusZ, microphones: [0], [.omnidirectional])])
    #expect(throws: Unsupported.self) { try Self.ambisonics(single, order: 1) }
  }

  @Test("W, Y, Z and X are those of the orientation: turned by a quarter, Y becomes Z")
  func orientation() throws {
    let device = try Self.device("cardioid tetrahedron")
    let manifold = try manifold(for: device)
    let taps = try [InputOrientation.portrait, .landscapeLeft].map { orientation in
      let frame = try #require(HeadFrame(forward: .plusZ, orientation: orientation))
      let (taps, origin) = try AmbisonicsDesign(
        manifold: manifold, frame: frame, order: 1, grid: DesignGrid(sampleRate: 48_000)
      ).filters(step: .unobserved)
      let figures = try Self.figures(
        taps, origin: origin, order: 1, manifold: manifold, frame: frame)
      #expect(figures.channels.allSatisfy { $0.correlation[500]! > 0.98 })
      return taps
    }
    // Portrait: y is +x, z is +y. In landscapeLeft, −x is up and +y is on the left.
    func difference(_ a: Int, _ b: Int, sign: Float) -> Float {
      zip(taps[0][a].joined(), taps[1][b].joined()).map { abs($0 - sign * $1) }.max()!
    }
    #expect(difference(0, 0, sign: 1) < 1e-4)
    #expect(difference(3, 3, sign: 1) < 1e-4)
    #expect(difference(2, 1, sign: 1) < 1e-4)
    #expect(difference(1, 2, sign: -1) < 1e-4)
  }

  @Test("a voice at the left, above or in front is as loud in Y, Z or X as in W, and in phase")
  func voices() throws {
    let bank = try Self.bank("cardioid tetrahedron", order: 1)
    let coefficients = try #require(bank.cases.first)
    let response = FilterResponse(
      taps: coefficients.taps, sampleRate: 48_000, delayFrames: bank.delayFrames, frequencies: [300, 700])
    let outputs = response.outputs(
      try manifold(for: Self.device("cardioid tetrahedron")),
      from: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    for f in 0..<2 {
      for (direction, channel) in [(0, 1), (1, 2), (2, 3)] {
        for other in 0..<4 {
          let wanted = other == 0 || other == channel ? 1.0 : 0
          #expect(
            (outputs[f, other, direction] - Complex(wanted, 0)).magnitude < 0.12, "\(other) \(direction)")
        }
      }
    }
  }

  /// A decoder of first order to a t-design of loudspeakers has the energy vector of the intensity, Re(W* (X, Y, Z)).
  @Test(
    "the energy vector finds 24 voices at 500 Hz: within 5° all around a cardioid tetrahedron, within 10° horizontally around phone and glasses",
    arguments: [("cardioid tetrahedron", 5.0), ("phone5", 10), ("glasses8", 10)])
  func energyVector(name: String, limit: Double) throws {
    useSingleThreadedBLAS()
    let device = try Self.device(name)
    let (taps, _) = try AmbisonicsDesign(
      manifold: manifold(for: device), frame: Self.portrait, order: 1, grid: DesignGrid(sampleRate: 48_000)
    ).filters(step: .unobserved)
    let isHorizontal = limit > 5
    let ring = (0..<24).map { n in SIMD3(sin(.pi / 12 * Double(n)), 0, cos(.pi / 12 * Double(n))) }
    let voices = isHorizontal ? ring : fibonacciSphere(24)
    let frequencies = Array(stride(from: 360.0, to: 707, by: 30))
    let outputs = FilterResponse(
      taps: taps, sampleRate: 48_000, delayFrames: 64, frequencies: frequencies
    ).outputs(try referenceManifold(for: device), from: voices)
    for (d, voice) in voices.enumerated() {
      func intensity(_ channel: Int) -> Double {
        frequencies.indices.reduce(0) { sum, f in
          sum + (outputs[f, 0, d].conjugate * outputs[f, channel, d]).real
        }
      }
      // In portrait, the device's x is Y, its y Z, its z X.
      let found = SIMD3(intensity(1), isHorizontal ? 0 : intensity(2), intensity(3))
      let angle = acos(min(1, found.dot(voice) / found.dot(found).squareRoot())) * 180 / .pi
      #expect(angle < limit, "\(name) \(voice)")
    }
  }

  @Test("stored and read again, B-format of any number of channels is what it was", arguments: [1, 2, 4])
  func stored(order: Int) throws {
    let folder = try TemporaryFolder()
    let device = try Self.ambisonics(Self.device("em32"), order: order)
    let designed = try FilterBank.cached(device: device, sampleRate: 48_000, cache: folder.path)
    let name = FilterBank.storedName(device: device, sampleRate: 48_000)
    let stored = try FilterBank(storedAt: "\(folder.path)/\(name)")
    #expect(stored == designed)
    #expect(stored.cases[0].origin != nil)
  }

  @Test("without a microphone, B-format comes from the others, in the layout of all")
  func missing() throws {
    useSingleThreadedBLAS()
    let device = try Self.ambisonics(Self.device("ring7"), order: 1)
    let rest = try FilterBank.design(device: device.without(microphones: ["ring-1"]), sampleRate: 48_000)
    let bank = rest.replacing(for: device)
    let coefficients = try #require(bank.cases.first)
    #expect(coefficients.filterCase == device.filterCases[0] && coefficients.origin != nil)
    let gone = try #require(device.microphoneIndex(named: "ring-1"))
    for output in 0..<4 { #expect(coefficients.taps[output, gone].allSatisfy { $0 == 0 }) }
    let figures = try Self.figures(
      coefficients.taps, origin: try #require(coefficients.origin), order: 1,
      manifold: manifold(for: device))
    #expect(figures.channels[0].octaves.count > 4 && figures.channels[1].octaves.count > 2)
    // A single one hears no directions: nothing takes the place of B-format.
    let names = Set(device.microphones.dropFirst().map(\.name))
    #expect(device.without(microphones: names).filterCases.isEmpty)
  }

  @Test("all filter sets that ship load")
  func shipped() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(repositoryFolder)/Presets/filters")
      .filter { $0.hasSuffix(".json") }
    #expect(files.count >= 102)
    for file in files {
      let bank = try FilterBank(storedAt: "\(repositoryFolder)/Presets/filters/\(file.dropLast(5))")
      #expect(!bank.cases.isEmpty || !bank.refusals.isEmpty)
    }
  }
}
