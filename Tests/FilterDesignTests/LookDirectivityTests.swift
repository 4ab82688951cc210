import Acoustics
import Dispatch
import FilterBanks
import FilterDesign
import Foundation
import Numerics
import Presets
import Synchronization
import TestSupport
import Testing

/// A mono pattern at looks that nobody shipped filters for, judged on a manifold of this file: plane waves at points, and
/// cardioid capsules.
@Suite("Directivity at looks") struct LookDirectivityTests {
  static let devices: [String] = ["ring7", "respeaker-6mic-hat", "tetramic", "uma16"].filter { name in
    environment["PINNA_EVERY_LOOK"].map { $0 == "1" || $0 == name } ?? true
  }
  private static let environment = ProcessInfo.processInfo.environment
  static let isComplete = environment["PINNA_EVERY_LOOK"] != nil
  static let octaves = [125.0, 250, 500, 1000, 2000, 4000, 8000]

  /// 72 looks: each 5° of the horizon, or 24 azimuths at three elevations for microphones at several heights. Without
  /// PINNA_EVERY_LOOK (1, or a device), which `make figures` sets, three of them, and one in `make check`.
  static func looks(_ device: String) -> [Look] {
    let all =
      device == "tetramic"
      ? [-40.0, 0, 40].flatMap { elevation in
        stride(from: -165.0, through: 180, by: 15).map { Look(azimuth: $0, elevation: elevation)! }
      } : stride(from: -175.0, through: 180, by: 5).map { Look(azimuth: $0)! }
    guard !isComplete else { return all }
    return environment["PINNA_QUICK"] == "1" ? [all[40]] : [all[9], all[40], all[61]]
  }

  static let patterns = isComplete ? [PolarPattern.cardioid, .supercardioid] : [.cardioid]

  @Test(
    "the directivity index at a look is within 0.3 dB of that of four times the directions; the level on axis is within 0.5 dB, also of flat from 250 Hz on",
    // One after another: a finer design of 16 microphones takes over a gigabyte.
    .serialized, arguments: devices, patterns)
  func directivity(name: String, pattern: PolarPattern) throws {
    useSingleThreadedBLAS()
    let device = try PresetLibrary(folders: [repositoryFolder + "/Presets"]).device(named: name)
    var design = device.design
    design.mono.directions *= 4
    let finer = device.with(design: design)
    let source = device.dataSources[0]
    let listening = Listening(to: device)
    let looks = Self.looks(name)
    let read = Mutex<[(usual: Listening.Figures, finer: Listening.Figures)]>([])
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: looks.count) { n in
      let selection = Selection(
        dataSource: source.name, polarPattern: pattern, inputOrientation: .portrait, look: looks[n])
      do {
        let both = try [device, finer].map { device in
          let own = try #require(try device.ownDevice(of: selection))
          let bank = try FilterBank.design(device: own, sampleRate: 48_000)
          let coefficients = try #require(bank.cases.first, "\(bank.refusals.map(\.text))")
          return listening.figures(
            coefficients.taps, forward: looks[n].direction(in: device.frame(of: source, .portrait)))
        }
        read.withLock { $0.append((both[0], both[1])) }
      } catch {
        failures.withLock { $0.append("\(looks[n].word): \(error)") }
      }
    }
    let (figures, refused) = (read.withLock { $0 }, failures.withLock { $0 })
    #expect(refused.isEmpty, "\(refused)")
    func worst(_ value: (Int, (usual: Listening.Figures, finer: Listening.Figures)) -> Double) -> [Double] {
      Self.octaves.indices.map { octave in figures.map { abs(value(octave, $0)) }.max() ?? 0 }
    }
    func extreme(_ value: (Int) -> [Double]) -> String {
      Self.octaves.indices.map { octave in
        let values = value(octave)
        return String(format: "%.2f…%.2f", values.min() ?? 0, values.max() ?? 0)
      }.joined(separator: " | ")
    }
    // Above aliasing, fewer directions may do better: of all looks, a supercardioid of ring7 at 8 kHz by 0.32 dB, which
    // this finds.
    let difference = worst { $1.usual.directivity[$0] - $1.finer.directivity[$0] }
    let onAxis = worst { $1.usual.onAxis[$0] }
    let apart = worst { $1.usual.onAxis[$0] - $1.finer.onAxis[$0] }
    print(
      """
      \(name), \(pattern.rawValue), \(figures.count) looks, by octave from 125 Hz
        directivity index: \(extreme { octave in figures.map { $0.usual.directivity[octave] } })
        directivity index over that of the finer design: \(extreme { octave in
          figures.map { $0.usual.directivity[octave] - $0.finer.directivity[octave] }
        })
        on axis: \(extreme { octave in figures.map { $0.usual.onAxis[octave] } })
        on axis, from the finer design: \(apart.map { String(format: "%.2f", $0) })
      """)
    #expect(difference.max()! <= 0.3)
    #expect(apart.max()! <= 0.5)
    // At 125 Hz the filters of small arrays roll off.
    #expect(onAxis.dropFirst().max()! <= 0.5)
  }

  /// What an array of points in the free field hears of plane waves.
  struct Listening: Sendable {
    struct Figures: Sendable {
      /// In decibels, by octave.
      let directivity: [Double]
      let onAxis: [Double]
    }

    private static let speed = 343.0
    private static let rate = 48_000.0
    private let positions: [SIMD3<Double>]
    private let capsules: [(part: Double, facing: SIMD3<Double>)]
    private let directions: [SIMD3<Double>]
    /// Twelve frequencies of each octave.
    private static let frequencies = octaves.map { centre in
      (0..<12).map { centre * pow(2, (Double($0) - 5.5) / 12) }
    }
    /// `[octave][frequency][direction][microphone]`
    private let responses: [[[[Complex]]]]

    init(to device: Device) {
      positions = device.microphones.map(\.position)
      capsules = device.microphones.map {
        ($0.capsule?.omnidirectionalPart ?? 1, $0.capsule?.facing.vector ?? .zero)
      }
      // Evenly spread, by the golden angle.
      let count = 1000
      directions = (0..<count).map { n in
        let z = 1 - (2 * Double(n) + 1) / Double(count)
        let (azimuth, radius) = (Double(n) * .pi * (3 - 5.0.squareRoot()), (1 - z * z).squareRoot())
        return [radius * cos(azimuth), radius * sin(azimuth), z]
      }
      let (positions, capsules, directions) = (positions, capsules, directions)
      responses = Self.frequencies.map { octave in
        octave.map { frequency in
          directions.map { Self.response(from: $0, frequency, positions, capsules) }
        }
      }
    }

    private static func response(
      from direction: SIMD3<Double>, _ frequency: Double, _ positions: [SIMD3<Double>],
      _ capsules: [(part: Double, facing: SIMD3<Double>)]
    ) -> [Complex] {
      zip(positions, capsules).map { position, capsule in
        let phase = 2 * .pi * frequency * (position * direction).sum() / speed
        let gain = capsule.part + (1 - capsule.part) * (capsule.facing * direction).sum()
        return Complex(gain * cos(phase), gain * sin(phase))
      }
    }

    func figures(_ taps: Taps<Float>, forward: Direction) -> Figures {
      var (directivity, onAxis): ([Double], [Double]) = ([], [])
      for (octave, frequencies) in Self.frequencies.enumerated() {
        var (axis, sphere) = (0.0, 0.0)
        for (n, frequency) in frequencies.enumerated() {
          let weights = (0..<positions.count).map { microphone in
            taps[0, microphone].enumerated().reduce(Complex(0, 0)) { sum, tap in
              let phase = -2 * .pi * frequency * Double(tap.offset) / Self.rate
              return sum + Complex(Double(tap.element) * cos(phase), Double(tap.element) * sin(phase))
            }
          }
          func power(_ response: [Complex]) -> Double {
            zip(response, weights).reduce(Complex(0, 0)) { $0 + $1.0 * $1.1 }.squaredMagnitude
          }
          axis += power(Self.response(from: forward.vector, frequency, positions, capsules))
          sphere += responses[octave][n].reduce(0) { $0 + power($1) } / Double(directions.count)
        }
        directivity.append(10 * log10(axis / sphere))
        onAxis.append(10 * log10(axis / Double(frequencies.count)))
      }
      return Figures(directivity: directivity, onAxis: onAxis)
    }
  }
}
