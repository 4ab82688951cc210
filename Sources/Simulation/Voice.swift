import Acoustics
import AudioFiles
import Glibc
import Numerics
import Presets

/// The voices that talkers can have: sound files and noise.
enum Voice {
  /// Reads the sound file at `path` and averages its channels. Frames with a NaN or infinite sample become silent.
  /// - Returns: the voice, and what is odd about the file: one sentence each.
  static func read(path: String) throws(AudioFileError) -> (voice: BandlimitedSignal, remarks: [String]) {
    let reader = try AudioFileReader(path: path)
    guard Scene.sampleRates.contains(reader.sampleRate) else {
      throw AudioFileError(
        "\(path) has a sample rate of \(reader.sampleRate) Hz, outside \(Scene.sampleRates.lowerBound) to "
          + "\(Scene.sampleRates.upperBound) Hz")
    }
    let limit = Int(Scene.maximumDuration) * reader.sampleRate
    var mono: [Float] = []
    while true {
      let block = try reader.read(frames: 16384)
      if block.isEmpty { break }
      for first in stride(from: 0, to: block.count, by: reader.channels) {
        let sum = block[first..<first + reader.channels].reduce(0, +)
        mono.append(sum.isFinite ? sum / Float(reader.channels) : 0)
      }
      guard mono.count <= limit else {
        throw AudioFileError("\(path) is longer than \(Int(Scene.maximumDuration)) s")
      }
    }
    guard !mono.isEmpty else { throw AudioFileError("\(path) contains no samples") }
    let invalid = reader.invalidSamples.total
    let remarks = [
      reader.headerRemark,
      invalid == 0 ? nil : "\(path) has \(invalid) invalid samples (NaN, infinity or above +60 dBFS)",
    ]
    return (BandlimitedSignal(samples: mono, sampleRate: reader.sampleRate), remarks.compactMap(\.self))
  }

  /// White Gaussian noise at 48 kHz with an RMS value of 0.1 (-20 dBFS). Equal seeds produce equal noise.
  static func noise(seconds: Double, seed: UInt64) -> BandlimitedSignal {
    BandlimitedSignal(
      samples: gaussian(count: Int(seconds * 48000), amplitude: 0.1, seed: seed), sampleRate: 48000)
  }

  /// White Gaussian noise with an RMS value of `amplitude`. Equal seeds produce equal noise.
  static func gaussian(count: Int, amplitude: Double, seed: UInt64) -> [Float] {
    var random = SplitMix64(state: seed)
    /// In (0, 1]: Box-Muller below needs a value above 0 for its logarithm.
    func uniform() -> Double { (Double(random.next() >> 11) + 1) / 0x1p53 }
    return (0..<count).map { _ in
      Float(amplitude * (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform()))
    }
  }
}
