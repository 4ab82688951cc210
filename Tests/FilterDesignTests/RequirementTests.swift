import Acoustics
import FigureSupport
import Figures
import Manifolds
import TestSupport
import Testing

extension Requirement: CustomStringConvertible {
  package var description: String { "\(item), \(figureName) \(must.map(\.description) ?? "")" }
}

/// The table of figures on coarse meshes other than the designs'; `make figures` uses fine ones.
@Suite("Required figures") struct RequirementTests {
  static let reports = [
    "phone3": report(Banks.phone3), "phone4": report(Banks.phone4), "phone5": report(Banks.phone5Box),
    "ring7": report(Banks.ring7), "glasses8": report(Banks.glasses8), "linear8": report(Banks.linear8),
  ]

  static func report(_ designed: Banks.Designed) -> Report {
    let device = designed.device
    let manifold: any ArrayManifold =
      if case .box(let box) = device.body {
        try! BoxManifold(
          positions: device.microphones.map(\.position), size: box.size, parameters: .init(panelWidth: 0.004))
      } else { try! manifold(for: device) }
    return try! Report(
      bank: designed.bank, device: device, preset: device.name, manifold: manifold, draws: 0)
  }

  @Test("every required figure is reached", .long, arguments: Requirement.all.filter { $0.must != nil })
  func required(requirement: Requirement) throws {
    let report = try #require(Self.reports[requirement.preset])
    let worst = try #require(requirement.worst(in: report))
    let margin = try #require(requirement.must).margin(worst.value)
    #expect(margin >= 0, "\(worst.value) at \(worst.place)")
  }

  @Test("every case in the table is offered") func offered() {
    for (preset, report) in Self.reports {
      #expect(report.cases.filter { !$0.supported }.isEmpty, "\(preset)")
    }
  }
}
