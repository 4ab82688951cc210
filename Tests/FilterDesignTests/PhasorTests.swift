import Glibc
import Numerics
import Testing

@Suite("Phasors") struct PhasorTests {
  @Test("products of steps are the phasors, at even and uneven spacings, and after 0 Hz") func values() {
    let delays = [0, 1e-4, -3.7e-4, 0.021]
    var phasors = Phasors(delays: delays)
    let even = (0..<500).map { 43.06640625 * Double($0) }
    for frequency in even + [21_600, 21_700, 23_000.5, 23_000.5] {
      phasors.advance(to: frequency)
      for (value, delay) in zip(phasors.values, delays) {
        #expect((value - Complex(phase: 2 * .pi * frequency * delay)).magnitude < 1e-10, "\(frequency) Hz")
      }
    }
  }

  @Test("cosines and sines of two phases are the C library's, on all quarters of the circle") func turns() {
    for number in -2000...2000 {
      let phases = SIMD2(0.37 * Double(number), 23.1 * Double(number) + 0.25 * .pi)
      let (cosine, sine) = Turns.cosineAndSine(phases)
      for i in 0..<2 {
        #expect(abs(cosine[i] - cos(phases[i])) < 5e-16, "\(phases[i])")
        #expect(abs(sine[i] - sin(phases[i])) < 5e-16, "\(phases[i])")
      }
    }
  }
}
