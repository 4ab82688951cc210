import AudioFiles
import Glibc
import Text

extension SoundOutput {
  /// "wrote out.wav: 0:00:06.2, 2 channels at 48000 Hz, peak -6.7 dBFS"
  var sentence: String {
    let level = peak > 0 ? String(format: "peak %.1f dBFS", 20 * log10(Double(peak))) : "silence"
    return
      "wrote \(path): \((Double(frames) / Double(sampleRate)).clock), \("channel".counted(channels)) at "
      + "\(sampleRate) Hz, \(level)"
  }
}
