import Acoustics
import AudioFiles
import Control
import Foundation
import Simulation

/// The demo's sound: in each case of a device one voice from the left, the right, the front and behind, as the
/// listener of that case would say.
struct DemoScene {
  struct Voice {
    let name: String
    let azimuth: Angle
    let file: String
    /// Whether it should come out on the left (+1), on the right (−1) or in the middle (0).
    let side: Int
  }

  static let voices = [
    Voice(name: "left", azimuth: .degrees(90), file: "Side_Left.wav", side: 1),
    Voice(name: "right", azimuth: .degrees(-90), file: "Side_Right.wav", side: -1),
    Voice(name: "front", azimuth: .degrees(0), file: "Front_Center.wav", side: 0),
    Voice(name: "behind", azimuth: .degrees(180), file: "Rear_Center.wav", side: 0),
  ]
  /// Seconds from one voice to the next, and of silence before each case, for the change.
  static let voiceSeconds = 0.95
  static let pauseSeconds = 0.35

  let cases: [Selection]
  let sampleRate: Int
  let microphones: AudioClip

  init(device: Device, cases: [Selection], sampleRate: Int) throws {
    self.cases = cases
    self.sampleRate = sampleRate
    var talkers: [Talker] = []
    let spoken = try Self.voices.map { try Self.load("/usr/share/sounds/alsa/\($0.file)") }
    for (n, selection) in cases.enumerated() {
      let source = try device.dataSource(named: selection.dataSource)
      guard let head = HeadFrame(forward: source.forward, orientation: selection.inputOrientation) else {
        throw Failure(.unsupported, "\(source.name) has no stereo in \(selection.inputOrientation.rawValue)")
      }
      for (v, voice) in Self.voices.enumerated() {
        let start = Self.start(ofCase: n, voice: v)
        talkers.append(
          Talker(
            voice: spoken[v], channel: 0, direction: head.direction(azimuth: voice.azimuth), start: start,
            gain: Decibels(-9)))
      }
    }
    microphones = try Scene(title: "demo", device: device, talkers: talkers).microphones(
      sampleRate: sampleRate, progress: WorkProgress.soundAround(device.name))
  }

  /// Seconds from the beginning at which a voice speaks.
  static func start(ofCase n: Int, voice: Int) -> Double {
    Double(n) * caseSeconds + pauseSeconds + Double(voice) * voiceSeconds
  }

  static var caseSeconds: Double { pauseSeconds + Double(voices.count) * voiceSeconds }

  /// Frames in which voice `voice` of case `n` is heard.
  func frames(ofCase n: Int, voice: Int) -> Range<Int> {
    let start = Int(Self.start(ofCase: n, voice: voice) * Double(sampleRate))
    // The last word ends before its turn does.
    return start..<min(start + Int(Self.voiceSeconds * Double(sampleRate)), microphones.frames)
  }

  /// One spoken word, without the silence before it and no longer than its turn.
  private static func load(_ path: String) throws -> AudioClip {
    guard FileManager.default.fileExists(atPath: path) else {
      throw Failure(
        .failed, "\(path) is missing; install the recorded voices with: apt-get install alsa-utils")
    }
    let clip = try AudioClip(path: path)
    let mono = clip.channels[0]
    let peak = mono.map(\.magnitude).max() ?? 0
    let first = mono.firstIndex { $0.magnitude > 0.02 * peak } ?? 0
    var word = Array(mono[first...].prefix(Int((voiceSeconds - 0.05) * Double(clip.sampleRate))))
    let fade = clip.sampleRate / 50
    for n in 0..<min(fade, word.count) { word[word.count - 1 - n] *= Float(n) / Float(fade) }
    return AudioClip(sampleRate: clip.sampleRate, channels: [word])
  }
}
