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

  @Test("a report is decoded from its JSON unchanged") func roundTrip() throws {
    let copy = try JSONDecoder().decode(Report.self, from: JSONEncoder().encode(Self.pair))
    #expect(copy == Self.pair)
  }
}
