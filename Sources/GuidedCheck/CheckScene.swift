import Acoustics
import AudioFiles
import Control
import Foundation
import Simulation

/// One case of a device that is listened to: what is selected, and whose left and right that are.
struct CheckCase {
  let selection: Selection
  let head: HeadFrame
  /// False where the array is its own mirror image from in front: what comes from behind sounds the same to it.
  let tellsFrontFromBehind: Bool

  var isStereo: Bool { selection.polarPattern == .stereo }
  /// "Back, portrait", or "Front, cardioid".
  var name: String {
    selection.dataSource + ", "
      + (isStereo ? selection.inputOrientation.rawValue : selection.polarPattern.rawValue)
  }

  /// The cases of `device` in which sounds from different directions should come out differently. Mono patterns are
  /// held upright, or lying where they look up or down.
  static func all(of device: Device) -> [CheckCase] {
    device.filterCases.compactMap { filterCase in
      guard filterCase.polarPattern != .omnidirectional,
        let source = device.dataSources.first(where: { $0.name == filterCase.dataSource })
      else { return nil }
      let orientations = filterCase.inputOrientation.map { [$0] } ?? [.portrait, .landscapeRight]
      return orientations.lazy.compactMap { orientation in
        HeadFrame(forward: source.forward, orientation: orientation).map {
          CheckCase(
            selection: Selection(
              dataSource: source.name, polarPattern: filterCase.polarPattern, inputOrientation: orientation),
            head: $0, tellsFrontFromBehind: device.hasDepth(along: source.forward))
        }
      }.first
    }
  }
}

extension Device {
  /// Whether microphones stand apart along `forward`, or on one side of the body.
  fileprivate func hasDepth(along forward: Direction) -> Bool {
    let places = microphones.map { $0.position.dot(forward.vector) }
    let middle =
      switch body {
      case .free, .measured: places.reduce(0, +) / Double(max(1, places.count))
      case .sphere, .box: 0.0
      }
    return places.contains { abs($0 - middle) > 0.001 }
  }
}

/// A check's sound: in each case one voice from the left, the right, the front and behind, as the listener of that
/// case would say.
struct CheckScene {
  /// Where a voice comes from, as the listener says.
  enum Place: String {
    case left, right, front, behind
  }

  struct Voice {
    let place: Place
    let azimuth: Angle
    let file: String
    /// Whether it should come out on the left (+1), on the right (−1) or in the middle (0).
    let side: Int
  }

  static let voices = [
    Voice(place: .left, azimuth: .degrees(90), file: "Side_Left.wav", side: 1),
    Voice(place: .right, azimuth: .degrees(-90), file: "Side_Right.wav", side: -1),
    Voice(place: .front, azimuth: .degrees(0), file: "Front_Center.wav", side: 0),
    Voice(place: .behind, azimuth: .degrees(180), file: "Rear_Center.wav", side: 0),
  ]
  /// Seconds from one voice to the next, and of silence before each case, for the change.
  static let voiceSeconds = 0.95
  static let pauseSeconds = 0.35

  let cases: [CheckCase]
  let sampleRate: Int
  let microphones: AudioClip
  /// What one microphone in the array's place would hear, were nothing there.
  let reference: [Float]

  /// - Parameter array: the device that stands in the sound.
  init(array: Device, cases: [CheckCase], sampleRate: Int) throws {
    self.cases = cases
    self.sampleRate = sampleRate
    var talkers: [Talker] = []
    let spoken = try Self.sounds()
    for (n, one) in cases.enumerated() {
      for (v, voice) in Self.voices.enumerated() {
        talkers.append(
          Talker(
            voice: spoken[v], channel: 0, direction: one.head.direction(azimuth: voice.azimuth),
            start: Self.start(ofCase: n, voice: v), gain: Decibels(-9)))
      }
    }
    microphones = try Scene(title: "check", device: array, talkers: talkers).microphones(
      sampleRate: sampleRate, progress: WorkProgress.soundAround(array.name))
    let point = Device(
      name: "point", title: "", body: .free, microphones: [Microphone(name: "point", position: .zero)],
      dataSources: [])
    reference = try Scene(title: "check", device: point, talkers: talkers).microphones(sampleRate: sampleRate)
      .channels[0]
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

  /// Frames of a whole case.
  func frames(ofCase n: Int) -> Range<Int> {
    let length = Self.caseSeconds * Double(sampleRate)
    return Int(Double(n) * length)..<min(Int(Double(n + 1) * length), microphones.frames)
  }

  /// Recorded words where alsa-utils is installed, else bursts of noise.
  private static func sounds() throws -> [AudioClip] {
    let paths = voices.map { "/usr/share/sounds/alsa/\($0.file)" }
    guard paths.allSatisfy(FileManager.default.fileExists) else {
      var generator = SystemRandomNumberGenerator()
      return voices.map { _ in
        let noise = (0..<24_000).map { _ in Float.random(in: -0.3...0.3, using: &generator) }
        return AudioClip(sampleRate: 48000, channels: [noise])
      }
    }
    return try paths.map(word)
  }

  /// One spoken word, without the silence before it and no longer than its turn.
  private static func word(_ path: String) throws -> AudioClip {
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
