import Acoustics
import AudioFiles
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("Sources moved by delays")
struct MovedSourceTests {
  static let line = (0..<8).map { Position(-0.245 + 0.07 * Double($0), 0, 0) }
  static let recording = repositoryFolder + "/../shared/data/linear8-speech-16k.wav"

  @Test("delays turn a wave from broadside into one from 45°, to -80 dB", arguments: [45.0, -45])
  func redirection(degrees: Double) throws {
    let angle = degrees * .pi / 180
    let oblique = try #require(Direction([sin(angle), 0, cos(angle)]))
    let signal = BandlimitedSignalTests.sine(1500, rate: 16000)
    func clip(from direction: Direction) -> [[Float]] {
      Self.line.map { PlaneWave(signal: signal, from: direction).heard(at: $0, rate: 16000, count: 8000) }
    }
    let moved = movingSource(
      of: clip(from: .plusZ), sampleRate: 16000, at: Self.line, from: .plusZ, to: oblique)
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
    let moved = movingSource(
      of: clip.channels, sampleRate: 16000, at: Self.line, from: .plusZ, to: oblique)
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
