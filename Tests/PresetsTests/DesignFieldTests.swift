import Acoustics
import Presets
import Testing

/// Files that override parameters of designs, for `tools/tune`.
@Suite("Design fields")
struct DesignFieldTests {
  static let box = Body.box(size: [0.072, 0.147, 0.008])

  @Test("design parameters can be overridden one by one; the others are those of the body")
  func override() throws {
    let text = "{stereo: {rearGain: -8}, grid: {tapCount: 512}, head: {earDistance: 95}}"
    let design = try YAMLReader(text: text, file: "design.yaml").design(of: Self.box)
    var expected = DesignParameters(body: Self.box)
    expected.stereo.rearGain = Decibels(-8)
    expected.grid.tapCount = 512
    expected.head.earDistance = 0.095
    #expect(design == expected)
    #expect(design.mono.highestCrossover == Hertz(1300))
  }

  @Test(
    "mistakes in overrides are named with their place",
    arguments: [
      (
        "{tuning: 1}", "1:2",
        "the file has an unknown key \"tuning\"; use one of: grid, box, measured, head, stereo, joint, mono"
      ),
      (
        "{stereo: {frontWeight: 3, rear: -6}}", "1:27",
        "stereo has an unknown key \"rear\"; use one of: directions, rearGain, frontWeight"
      ),
      (
        "{joint: {crossCorner: 100}}", "1:23",
        "joint.crossCorner is 100, out of range; write a number from 200 to 8000 Hz"
      ),
      (
        "{mono: {minimumOnAxis: much}}", "1:24",
        "mono.minimumOnAxis is \"much\", not a number; write a number"
      ),
      ("{grid: {tapCount: 250}}", "1:19", "grid.tapCount is 250; write a multiple of 8 from 128 to 1024"),
      ("{grid: {delay: 8.5}}", "1:16", "grid.delay is 8.5; write a whole number from 8 to 112"),
      ("loud", "1:1", "the file is \"loud\"; write a group with the keys grid, box"),
    ])
  func mistakes(text: String, place: String, message: String) throws {
    let error = #expect(throws: DescriptionError.self) {
      try YAMLReader(text: text, file: "design.yaml").design(of: Self.box)
    }
    let description = error?.description ?? ""
    #expect(description.hasPrefix("design.yaml:\(place)") && description.contains(message), "\(description)")
  }
}
