import Acoustics
import Figures
import Foundation
import Manifolds
import TestSupport
import Testing

@Suite("Reports") struct ReportTests {
  static let pair = try! Report(
    bank: Banks.pair.bank, device: Banks.pair.device, preset: "the pair",
    manifold: referenceManifold(for: Banks.pair.device))

  static let keys: Set = [
    "dataSource", "polarPattern", "inputOrientation", "separationDB", "frontBackDB", "ildErrorHighDB",
    "ildErrorLowDB", "itdErrorMicroseconds", "octaveErrorDB", "noiseGainDB", "directivityIndexDB",
    "patternErrorDB", "whiteNoiseGainDB", "onAxisDB", "taps", "delayFrames", "supported", "reason",
    "frontBackOctavesDB", "separationCeilingDB", "losses", "weakness", "heardAtSidesDegrees",
    "heardInFrontDegrees", "aliasingHz", "diffuseErrorDB", "frontErrorDB", "coherenceError",
    "heardBehindDegrees", "itdJumpMicroseconds", "heardDegrees", "targetHeardDegrees",
  ]

  @Test("the JSON of every case has every key, null where it does not apply") func keys() throws {
    let json = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(Self.pair)) as? [String: Any])
    #expect(Set(json.keys) == ["preset", "sampleRate", "remarks", "cases"])
    #expect(json["preset"] as? String == "the pair" && json["sampleRate"] as? Int == 48_000)
    let cases = try #require(json["cases"] as? [[String: Any]])
    #expect(cases.map { $0["polarPattern"] as? String } == ["omnidirectional", "cardioid"])
    for entry in cases {
      #expect(Set(entry.keys) == Self.keys)
      for key in [
        "inputOrientation", "separationDB", "frontBackDB", "octaveErrorDB", "noiseGainDB", "reason",
      ] {
        #expect(entry[key] is NSNull, "\(key)")
      }
      #expect(entry["taps"] as? Int == 256 && entry["delayFrames"] as? Int == 64)
      #expect(entry["supported"] as? Bool == true)
      let index = try #require(entry["directivityIndexDB"] as? [String: Double])
      #expect(Set(index.keys) == ["125", "250", "500", "1000", "2000", "4000", "8000", "12000"])
    }
  }

  @Test("a report is decoded from its JSON unchanged") func roundTrip() throws {
    let copy = try JSONDecoder().decode(Report.self, from: JSONEncoder().encode(Self.pair))
    #expect(copy == Self.pair)
  }
}
