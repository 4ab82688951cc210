import Acoustics
import Simulation
import TestSupport
import Testing

@Suite("Plane waves")
struct PlaneWaveTests {
  static let directions: [SIMD3<Double>] = [
    [1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 2, -3], [-0.3, 0.8, 0.1],
  ]

  @Test(
    "a sine reaches two microphones with the phase difference k d·(r1 - r2), the nearer one first",
    arguments: directions, [(48000, 48000), (48000, 16000), (44100, 48000)])
  func phaseDifference(towards: SIMD3<Double>, rates: (Int, Int)) throws {
    let direction = try #require(Direction(towards))
    let (near, far): (Position, Position) = ([0.03, -0.07, 0.004], [-0.02, 0.065, -0.004])
    let frequency = 700.0
    let wave = PlaneWave(signal: BandlimitedSignalTests.sine(frequency, rate: rates.0), from: direction)
    let phases = [near, far].map { position in
      let heard = wave.heard(at: position, rate: rates.1, count: rates.1 / 2)
      return Sine.phase(of: frequency, in: heard[rates.1 / 10..<rates.1 * 4 / 10], rate: rates.1)
    }
    let wavenumber = 2 * .pi * frequency / 343
    let expected = wavenumber * direction.vector.dot(near - far)
    let difference = (phases[0] - phases[1] - expected).remainder(dividingBy: 2 * .pi)
    #expect(abs(difference) < 1e-4)
  }

  @Test("a microphone nearer to the source receives the wave earlier by the difference of the distances")
  func onAxis() {
    var click = [Float](repeating: 0, count: 200)
    click[100] = 1
    let signal = BandlimitedSignal(samples: click, sampleRate: 48000)
    let tenSamples = 10 * 343.0 / 48000
    let wave = PlaneWave(signal: signal, from: .plusX)
    for (x, arrival) in [(tenSamples, 90), (-tenSamples, 110), (0, 100)] {
      let heard = wave.heard(at: [x, 0.2, -0.3], rate: 48000, count: 200)
      #expect(abs(heard[arrival] - 1) < 1e-4)
      #expect(heard.enumerated().allSatisfy { $0 == arrival || abs($1) < 1e-4 })
    }
  }
}
