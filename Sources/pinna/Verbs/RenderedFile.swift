import AudioFiles
import Glibc
import JackTools
import Messages
import Settings
import Text

/// What `pinna render` writes, part by part.
final class RenderedFile {
  let sound: SoundOutput
  private let ambisonics: AmbisonicFormat?
  private let stops: StopCount

  /// - Parameters:
  ///   - labels: what the file says beside its sound.
  ///   - replacing: as for `OutputFile`.
  ///   - stops: counts the signals INT and TERM from here on.
  init(
    _ path: String, channels: Int, sampleRate: Int, labels: SoundLabels, ambisonics: AmbisonicFormat?,
    replacing: Bool, _ stops: StopCount
  ) throws(AudioFileError) {
    let isPiped = path == StandardStream.word
    Signals.onStop {
      stops.next()
      guard isPiped else { return }
      // Nothing is to be removed, and a program that does not read would hold this process up.
      Tool.complain("interrupted; standard output is incomplete")
      Tool.end(ExitStatus.failed.rawValue)
    }
    sound =
      try isPiped
      ? SoundOutput(onStandardOutput: channels, sampleRate: sampleRate, comment: ambisonics?.comment)
      // More than two are B-format, whose channels belong to no loudspeakers.
      : SoundOutput(
        path: path, channels: channels, sampleRate: sampleRate, areMicrophones: channels > 2,
        labels: labels, ambisonics: ambisonics, replacing: replacing)
    self.ambisonics = ambisonics
    self.stops = stops
  }

  /// Runs `body`, and gives the files their names in order. After an error or an interruption, only the files that were
  /// complete by then are left.
  static func finish(_ files: [RenderedFile], _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      for file in files { file.sound.abandon() }
      throw files.allSatisfy({ $0.stops.count == 0 }) ? error : Self.interruption
    }
    for (n, file) in files.enumerated() {
      do {
        try file.sound.close(while: { file.stops.count == 0 })
      } catch {
        for unfinished in files[(n + 1)...] { unfinished.sound.abandon() }
        let isInterrupted = file.stops.count > 0
        guard n > 0 else { throw isInterrupted ? Self.interruption : error }
        let written = files[..<n].map(\.sound.path).joined(separator: ", ")
        throw Failure(
          .failed, "\(isInterrupted ? "interrupted" : "\(error)"); complete before that: \(written)")
      }
    }
  }

  private static let interruption = Failure(.failed, "interrupted; nothing was written")

  /// - Parameter channels: shape `[channel][frame]`. B-format is AmbiX.
  func write(_ channels: [[Float]]) throws {
    guard stops.count == 0 else { throw Self.interruption }
    try sound.write(ambisonics?.channels(of: channels) ?? channels)
  }

  var remarks: [String] {
    if sound.clippedSamples > 0 {
      return [
        "\("sample".counted(sound.clippedSamples)) of \(sound.path) clipped; lower --gain, or write .wav, which does not clip"
      ]
    }
    guard sound.peak > 1, sound.compression != .flac else { return [] }
    let peak = (200 * log10(Double(sound.peak))).rounded() / 10
    return [
      "\(sound.path) exceeds full scale (peak +\(peak) dBFS); \(sound.compression == nil ? "its float samples are" : "Opus is") not clipped, but other "
        + "programs may clip it"
    ]
  }
}
