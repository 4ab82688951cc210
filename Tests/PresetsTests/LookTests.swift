import Acoustics
import TestSupport
import Testing

@Suite("Looks") struct LookTests {
  @Test(
    "turned round and round, a look comes back to where it was; up and down it stops overhead and underfoot",
    arguments: [
      ("0", 5, 0, "5"), ("178", 5, 0, "-177"), ("-177", -5, 0, "178"), ("-179", -1, 0, "180"),
      ("60,85", 0, 10, "60,90"), ("60,-88", -1, -5, "59,-90"), ("12.5", 1, 1, "13.5,1"), ("5,5", -5, -5, "0"),
    ] as [(String, Double, Double, String)])
  func turning(from: String, left: Double, up: Double, to: String) throws {
    let angles = from.split(separator: ",").map { Double($0)! }
    let look = try #require(Look(azimuth: angles[0], elevation: angles.count > 1 ? angles[1] : 0))
    #expect(look.word == from && look.turned(left: left, up: up).word == to)
  }

  @Test("a look in words has degrees, and up or down only where it is not level")
  func words() {
    let texts = [(60, 0), (-60.5, 10), (180, -90)].map { "\(Look(azimuth: $0, elevation: $1)!)" }
    #expect(texts == ["60°", "-60.5°, 10° up", "180°, 90° down"])
  }

  @Test("what keys turn is a mono pattern's look, forward if it has none, and nothing of stereo and B-format")
  func turnable() {
    var selection = Selection(dataSource: "Front", polarPattern: .cardioid, inputOrientation: .portrait)
    #expect(selection.turnableLook == .ahead)
    selection.look = Look(azimuth: 60)
    #expect(selection.turnableLook == Look(azimuth: 60))
    for pattern in [PolarPattern.stereo, .ambix1] {
      selection.polarPattern = pattern
      #expect(selection.turnableLook == nil)
    }
  }

  @Test("a phone that stands has height, lying on its side too; a ring and a row on a table have none")
  func height() throws {
    func hasHeight(_ device: Device, _ orientation: InputOrientation) -> Bool {
      device.hasHeight(along: device.frame(of: device.dataSources.last!, orientation).up)
    }
    for orientation in InputOrientation.allCases { #expect(hasHeight(TestDevices.phone5(), orientation)) }
    #expect(!hasHeight(TestDevices.ring7(), .portrait) && !hasHeight(TestDevices.linear8(), .portrait))
  }
}
