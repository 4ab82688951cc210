import Acoustics
import AudioFiles
import FoundationEssentials
import Simulation

/// The simulated sound of a check: in each case one voice from the left, the right, the front and behind, relative to
/// the listener of that case.
package struct CheckScene: Sendable {
  static let voices: [(direction: VoiceDirection, file: String)] = [
    (.left, "Side_Left.wav"), (.right, "Side_Right.wav"), (.front, "Front_Center.wav"),
    (.behind, "Rear_Center.wav"),
  ]
  /// Seconds from the start of one voice to the start of the next.
  static let voiceSeconds = 0.95
  /// Seconds of silence before each case, in which the selection changes.
  static let pauseSeconds = 0.35

  package let cases: [CheckCase]
  package let sampleRate: Int
  /// Signals of the array's microphones.
  package let microphones: AudioClip
  /// The signal of a single microphone at the array's centre in the free field.
  package let reference: [Float]

  /// - Parameters:
  ///   - array: the device in the simulated sound field.
  ///   - calibration: what the filters undo: the microphones of `array` deviate by it, as those of the real array do.
  ///   - bodyCache: a folder of solved boxes; nil for none.
  ///   - progress: called with the solved fraction of `array`'s body, 0…1, from any thread, one call at a time.
  package init(
    array: Device, calibration: Calibration?, cases: [CheckCase], sampleRate: Int, bodyCache: String? = nil,
    progress: (@Sendable (Double) -> Void)? = nil, mixing: (@Sendable (Double) -> Void)? = nil
  ) throws {
    self.cases = cases
    self.sampleRate = sampleRate
    var talkers: [Talker] = []
    let spoken = try Self.sounds()
    for (n, one) in cases.enumerated() {
      for (v, voice) in Self.voices.enumerated() {
        talkers.append(
          Talker(
            voice: spoken[v], channel: 0, direction: one.head.direction(azimuth: voice.direction.azimuth),
            start: Self.start(ofCase: n, voice: v), gain: Decibels(-9)))
      }
    }
    microphones = try Scene(
      title: "check", device: array, talkers: talkers, errors: Self.errors(of: array, calibration)
    ).microphones(sampleRate: sampleRate, bodyCache: bodyCache, progress: progress, mixing: mixing)
    let point = try Device(
      name: "point", title: "", body: .free, microphones: [Microphone(name: "point", position: .zero)],
      dataSources: [])
    reference = try Scene(title: "check", device: point, talkers: talkers).microphones(sampleRate: sampleRate)
      .channels[0]
  }

  private static func errors(of array: Device, _ calibration: Calibration?) -> [Int: ChannelError] {
    let measured = array.microphones.indices.compactMap { m in
      calibration?.deviations[array.microphones[m].name].map { (m, ChannelError(deviation: $0)) }
    }
    return Dictionary(uniqueKeysWithValues: measured)
  }

  /// Start time of a voice, in seconds after the beginning of the scene.
  static func start(ofCase n: Int, voice: Int) -> Double {
    Double(n) * caseSeconds + pauseSeconds + Double(voice) * voiceSeconds
  }

  package static var caseSeconds: Double { pauseSeconds + Double(voices.count) * voiceSeconds }

  /// The frames in which voice `voice` of case `n` is evaluated.
  func frames(ofCase n: Int, voice: Int) -> Range<Int> {
    let start = Int(Self.start(ofCase: n, voice: voice) * Double(sampleRate))
    // The scene may end before the last voice's slot does.
    return start..<min(start + Int(Self.voiceSeconds * Double(sampleRate)), microphones.frames)
  }

  /// Frames of a whole case.
  package func frames(ofCase n: Int) -> Range<Int> {
    let length = Self.caseSeconds * Double(sampleRate)
    return Int(Double(n) * length)..<min(Int(Double(n + 1) * length), microphones.frames)
  }

  /// The recorded words of alsa-utils if it is installed, otherwise bursts of noise; one clip per voice.
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

  /// Reads one spoken word, removes leading silence, and truncates it to the length of its slot with a fade-out.
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
