import Acoustics
import Foundation
import HeadResponses
import Manifolds
import Measurements
import Numerics
import TestSupport
import Testing

/// SOFA files as programs write them: other data, other units, another order of the ears, more than libmysofa reads.
@Suite("Kinds of SOFA files") struct SofaKindsTests {
  typealias Damage = HostileMeasurementTests.Damage

  private func refusal(_ data: Data) throws -> String {
    let folder = try TemporaryFolder()
    let path = try folder.write(data, to: "a.sofa")
    return HostileMeasurementTests.refusal(.sofa(path: path)).replacing(path, with: "a.sofa")
  }

  @Test(
    "one emitter (FIR-E), angles in radians, a History of 5000 characters and many variables change nothing")
  func emitter() throws {
    // As measured.py has them; see MeasuredManifoldTests.turnedSofa for the limit.
    let positions: [Position] = [[0, 0, 0.03], [0.02, 0, 0], [-0.01, 0.025, -0.01]]
    let manifold = try MeasuredManifold(
      .sofa(path: MeasuredManifoldTests.golden + "/emitter.sofa"), positions: positions)
    let wanted = FreeFieldManifold(positions: positions)
    let (directions, frequencies) = (MeasuredManifoldTests.directions, MeasuredManifoldTests.frequencies)
    for level in errorLevels(
      manifold.responses(from: directions, frequencies: frequencies),
      wanted.responses(from: directions, frequencies: frequencies))
    { #expect(level < -90, "\(level)") }
  }

  @Test(
    "data that are no impulse responses are called by their name, and the file is not blamed for its form",
    arguments: [
      ("TF", "transfer functions"), ("SOS", "second-order sections"), ("XYZ", "data of type \"XYZ\""),
    ])
  func otherData(type: String, words: String) throws {
    var data = HostileMeasurementTests.turned
    let padded = Data(type.utf8) + Data(count: 3 - type.utf8.count)
    Damage.replace(Data("FIR".utf8), padded, in: &data)
    let message = try refusal(data)
    #expect(
      message.contains(words) && message.contains("\"\(type)\"") && !message.contains("not a SOFA"),
      "\(message)")
  }

  @Test("what is no SOFA file is said, and no number of libmysofa's stands for a reason")
  func notSofa() throws {
    var foreign = HostileMeasurementTests.turned
    Damage.replace("SOFA", "WAVY", in: &foreign)
    var singlePrecision = HostileMeasurementTests.turned
    // The class and precision of every floating-point number of 64 bits.
    Damage.replace(
      Data([0, 0, 64, 0, 52, 11, 0, 52]), Data([0, 0, 32, 0, 23, 8, 0, 23]), in: &singlePrecision)
    for (data, words) in [
      (Data("CDF\u{1}".utf8) + Data(count: 100), "netCDF in its classic form"),
      (Data("azimuth, elevation\n".utf8), "does not begin like one"),
      (foreign, "its Conventions are \"WAVY\""), (singlePrecision, "a.sofa "),
      (HostileMeasurementTests.turned.prefix(20_000), "a.sofa "),
    ] {
      let message = try refusal(data)
      #expect(message.contains(words) && message.firstMatch(of: /error|1000\d/) == nil, "\(message)")
    }
  }

  @Test("a head whose receivers are right and left, in this order, has its ears where they are")
  func rightEarFirst() throws {
    let head = try HRTF(path: MeasuredManifoldTests.golden + "/ears.sofa")
    let response = head.responses(from: [[0, 1, 0], [0, -1, 0]], frequencies: [500, 2000, 4000])
    for frequency in 1...2 {
      #expect(response[frequency, 0, 0].magnitude > 1.5 * response[frequency, 1, 0].magnitude)
      #expect(response[frequency, 1, 1].magnitude > 1.5 * response[frequency, 0, 1].magnitude)
    }
    // A sphere's low frequencies: 3 a/c, 765 µs between its sides; see HRTFTests.leadingEar.
    let lead = (response[0, 0, 0] / response[0, 1, 0]).phase / (2 * .pi * 500) * 1e6
    #expect((600...900).contains(lead), "\(lead)")
  }
}
