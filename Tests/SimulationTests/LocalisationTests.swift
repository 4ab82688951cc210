import Simulation
import TestSupport
import Testing

@Suite("Localisation") struct LocalisationTests {
  /// Octaves of speech above a low rate's band are ignored; the others have their full weight.
  @Test(
    "level and time differences are found at every sample rate",
    arguments: [8000, 11_025, 16_000, 22_050, 48_000, 192_000])
  func everyRate(rate: Int) {
    var noise = SeededNoise(seed: 7)
    let reference = noise.samples(rate)
    let late = rate / 4000
    let left = reference.map { 2 * $0 }
    let right = [Float](repeating: 0, count: late) + reference.dropLast(late)
    let found = Localisation(left: left, right: right, reference: reference, sampleRate: rate)
    #expect(abs(found.levelDifference.value - 6.02) < 0.05)
    #expect(abs(found.timeDifference - Double(late) / Double(rate)) < 5e-6)
    // (4 + 1) / 2
    #expect(abs(found.level.value - 3.98) < 0.05)
  }
}
