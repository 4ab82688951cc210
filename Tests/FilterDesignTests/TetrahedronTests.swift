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

/// Ambisonic microphones have cardioid capsules: a design that takes them for omnidirectional ones is wrong.
@Suite("Tetrahedra of cardioid capsules") struct TetrahedronTests {
  static let names = ["tetramic", "ambeo-vr", "h3-vr"]
  static let library = PresetLibrary(folders: [repositoryFolder + "/Presets"])

  /// The device with its front's cardioid only, and with other capsules.
  /// - Parameter part: α of the capsules; 1 for omnidirectional ones.
  static func device(_ name: String, capsules part: Double) throws -> Device {
    let device = try library.device(named: name)
    let front = try device.dataSource(named: "Front")
    let source = DataSource(
      name: "Front", id: front.id, location: nil, orientation: .front, forward: front.forward,
      microphones: front.microphones, polarPatterns: [.cardioid], stereoOrientations: [])
    let microphones = device.microphones.map { microphone in
      Microphone(
        name: microphone.name, position: microphone.position,
        capsule: part < 1
          ? Capsule(omnidirectionalPart: part, facing: Direction(microphone.position)!) : nil)
    }
    return try! Device(name: name, title: "", body: .free, microphones: microphones, dataSources: [source])
  }

  /// The filters of the cardioid for capsules of pattern `part`.
  static func bank(_ name: String, capsules part: Double) throws -> FilterBank {
    useSingleThreadedBLAS()
    return try FilterBank.design(device: device(name, capsules: part), sampleRate: 48_000)
  }

  /// The figures of a bank's cardioid on an array with capsules of pattern `real`.
  static func figures(_ bank: FilterBank, _ name: String, real: Double) throws -> MonoFigures {
    try MonoFigures(
      taps: try #require(bank.cases.first).taps, sampleRate: 48_000, delayFrames: bank.delayFrames,
      manifold: FreeFieldManifold(try Self.device(name, capsules: real).microphones), forward: .plusZ,
      omnidirectionalPart: 0.5)
  }

  @Test(
    "a cardioid has a directivity index of 4.8 dB from 125 Hz to 2 kHz, also where capsules differ by 0.05",
    arguments: names)
  func directivity(name: String) throws {
    let bank = try Self.bank(name, capsules: 0.5)
    for real in [0.45, 0.5, 0.55] {
      let figures = try Self.figures(bank, name, real: real)
      for (octave, index) in zip(MonoFigures.octaves, figures.directivityIndex).prefix(5) {
        #expect(
          abs(index.value - 4.8) < (real == 0.5 ? 0.2 : 0.5), "\(real), \(octave.value) Hz: \(index.value) dB"
        )
      }
      // Noise gain for a response of 1 on axis.
      #expect(figures.whiteNoiseGain.prefix(5).allSatisfy { $0.value > -6 })
    }
  }

  @Test(
    "designed for omnidirectional capsules, its directivity index is 1 dB lower in two octaves",
    arguments: names)
  func wrongModel(name: String) throws {
    let right = try Self.figures(Self.bank(name, capsules: 0.5), name, real: 0.5)
    let wrong = try Self.figures(Self.bank(name, capsules: 1), name, real: 0.5)
    let losses = zip(right.directivityIndex, wrong.directivityIndex).map { $0.value - $1.value }
    #expect(losses.count { $0 >= 1 } >= 2, "\(losses)")
  }
}
