import Acoustics
import FilterDesign
import Rendering
import TestSupport
import Testing

/// The computation of `pinna render`. This target depends on no room that links JACK.
@Suite("Rendering") struct RenderTests {
  private static let device = TestDevices.pair()
  private static let selection = Selection(
    dataSource: "Front", polarPattern: .cardioid, inputOrientation: .portrait)

  /// Filters of noise, instead of a design.
  private static func sets(_ noise: inout SeededNoise) -> (FilterSets, taps: [[Float]]) {
    let taps = noise.filters(microphones: 2, taps: 300)
    let bank = FilterBank(
      device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name), delayFrames: 0,
      tapCount: 300,
      cases: [
        FilterCoefficients(
          filterCase: FilterCase(dataSource: "Front", polarPattern: .cardioid, inputOrientation: nil),
          taps: [taps[0], taps[0]])
      ])
    return (FilterSets(bank), taps[0])
  }

  @Test(
    "the rendered sound is the convolution of microphones and filters, times the gain",
    arguments: [64, 1000, 1024])
  func convolution(period: Int) throws {
    var noise = SeededNoise(seed: 13)
    let (sets, taps) = Self.sets(&noise)
    let microphones = (0..<2).map { _ in noise.samples(5000) }
    let rendered = try sets.render(
      microphones, selection: Self.selection, of: Self.device, gain: Decibels(-6), period: period)
    let expected = directConvolution(microphones, taps).map { $0 * Decibels(-6).amplitude }
    #expect(rendered.left.count == 5000)
    #expect(differences(rendered.left, rendered.right) == 0)
    let error = zip(rendered.left, expected).map { abs(Double($0) - $1) }.max()!
    #expect(error < 1e-4 * expected.map(abs).max()!)
  }

  @Test("rendering refuses a selection that the device does not offer")
  func refusal() throws {
    var noise = SeededNoise(seed: 13)
    let (sets, _) = Self.sets(&noise)
    var selection = Self.selection
    selection.polarPattern = .stereo
    #expect(throws: Unsupported.self) {
      try sets.render([[0], [0]], selection: selection, of: Self.device)
    }
  }
}
