import Acoustics
import AudioFiles
import Foundation
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

@Suite("Delayed channels")
struct ChannelDelayTests {
  static let line = (0..<8).map { Position(-0.245 + 0.07 * Double($0), 0, 0) }
  static let recording = repositoryFolder + "/../shared/data/linear8-speech-16k.wav"

  /// The signals of `line` at 16 kHz with their source moved, by the free-field delay of each channel.
  static func moved(_ signals: [[Float]], from old: Direction, to new: Direction) -> [[Float]] {
    zip(signals, line).map { samples, position in
      BandlimitedSignal(samples: samples, sampleRate: 16000).sampled(
        rate: 16000, count: samples.count,
        start: PlaneWave.lead(at: position, from: new) - PlaneWave.lead(at: position, from: old))
    }
  }

  @Test("delays turn a wave from broadside into one from 45°, to -80 dB", arguments: [45.0, -45])
  func redirection(degrees: Double) throws {
    let angle = degrees * .pi / 180
    let oblique = try #require(Direction([sin(angle), 0, cos(angle)]))
    let signal = BandlimitedSignalTests.sine(1500, rate: 16000)
    func clip(from direction: Direction) -> [[Float]] {
      Self.line.map { PlaneWave(signal: signal, from: direction).heard(at: $0, rate: 16000, count: 8000) }
    }
    let moved = Self.moved(clip(from: .plusZ), from: .plusZ, to: oblique)
    for (got, expected) in zip(moved, clip(from: oblique)) {
      #expect(errorLevel(got[200..<7800], expected[200..<7800]) <= -80)
    }
  }

  @Test(
    "in a real recording, delays move every channel by its lead, to half a sample",
    .enabled(if: FileManager.default.fileExists(atPath: recording), "no ../shared/data here"))
  func realRecording() throws {
    let clip = try AudioClip(path: Self.recording)
    let oblique = try #require(Direction([1, 0, 1]))
    let moved = Self.moved(clip.channels, from: .plusZ, to: oblique)
    let leads = Self.line.map { $0.x * 0.5.squareRoot() / 343 }
    for channel in 0..<8 {
      let (old, new) = (clip.channels[channel], moved[channel])
      let lag = (-20...20).max { a, b in
        correlation(old, new, lag: a) < correlation(old, new, lag: b)
      }!
      #expect(abs(Double(lag) - leads[channel] * 16000) <= 0.5, "channel \(channel)")
    }
  }

  private func correlation(_ old: [Float], _ new: [Float], lag: Int) -> Float {
    (100..<old.count - 100).reduce(0) { $0 + old[$1 + lag] * new[$1] }
  }
}
