import FoundationEssentials

/// The answer to `/pinna/outputs`: the newest frames of both outputs, for displays.
package struct OutputSamples: Codable, Sendable {
  /// In hertz; 0 without a server.
  package let sampleRate: Int
  /// Frames that the engine had played at the end of `samples`.
  package let frame: Int
  /// Left and right, interleaved, oldest first: 32-bit floats, little-endian, in base 64.
  package let samples: String

  package static let range = 1...4096

  package init(sampleRate: Int, end: Int, _ samples: [Float]) {
    self.sampleRate = sampleRate
    frame = end
    self.samples = samples.map(\.bitPattern.littleEndian).withUnsafeBytes { Data($0).base64EncodedString() }
  }
}
