import Glibc

extension Compression {
  /// The format that a file name asks for by its ending; nil for WAV.
  public init?(path: String) {
    guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
    self.init(rawValue: path[dot...].dropFirst().lowercased())
  }
}

/// A sound file that a program writes, in the format that its name asks for: WAV with 32-bit float samples, FLAC with
/// 24 bits, or Opus, and for B-format CAF or .amb. As in takes, a WAV file becomes the other one at the end, and no file has its name before it is
/// complete. Or WAV on standard output.
///
/// Thread: one thread makes all calls. Each call may wait for the disk.
public final class SoundOutput {
  public let path: String
  public let sampleRate: Int
  public let compression: Compression?
  /// The largest magnitude of a sample.
  public private(set) var peak: Float = 0
  private let place: Place
  /// Of the WAV file.
  private let name: String
  /// Nil on standard output.
  private let output: OutputFile?
  private let labels: SoundLabels
  private let isAmbisonic: Bool
  private let areMicrophones: Bool

  private enum Place {
    case file(AudioFileWriter)
    case stream(WAVStream)
  }

  public var channels: Int {
    switch place {
    case .file(let writer): writer.channels
    case .stream(let stream): stream.channels
    }
  }

  public var frames: Int {
    switch place {
    case .file(let writer): writer.framesWritten
    case .stream(let stream): stream.framesWritten
    }
  }

  /// Samples above full scale, which the format clipped.
  public var clippedSamples: Int {
    if compression != nil, case .file(let writer) = place { writer.clippedSamples } else { 0 }
  }

  /// - Parameters:
  ///   - areMicrophones: whether the channels are microphones, which belong to no loudspeakers.
  ///   - labels: what it says beside its sound.
  ///   - ambisonics: what the file says of its channels if they are B-format. They are written as they come.
  ///   - replacing: as for `OutputFile`.
  public init(
    path: String, channels: Int, sampleRate: Int, areMicrophones: Bool = false,
    labels: SoundLabels = SoundLabels(), ambisonics: AmbisonicFormat? = nil, replacing: Bool = true
  ) throws(AudioFileError) {
    self.path = path
    self.labels = labels
    isAmbisonic = ambisonics != nil
    self.areMicrophones = areMicrophones && ambisonics == nil
    self.sampleRate = sampleRate
    compression = Compression(path: path)
    if let obstacle = compression?.obstacle(
      channels: channels, sampleRate: sampleRate, isAmbisonic: ambisonics != nil,
      areMicrophones: self.areMicrophones)
    {
      throw AudioFileError("cannot write \(path): \(obstacle); give a name that ends in .wav")
    }
    let output = try OutputFile(path, replacing: replacing)
    self.output = output
    // Always the same: the next run replaces what a killed one left.
    name = compression == nil ? path : "\(path).uncompressed.wav"
    place = .file(
      try AudioFileWriter(
        folder: .working, name: name, encoding: compression == .flac ? .pcm24 : .float32, channels: channels,
        sampleRate: sampleRate, areMicrophones: areMicrophones, labels: labels,
        ambisonics: ambisonics,
        output: compression == nil ? output : OutputFile(name, replacing: true)))
  }

  /// On standard output. Nothing is written before the first frames.
  /// - Parameter comment: what it says of its channels; nil for nothing.
  public init(onStandardOutput channels: Int, sampleRate: Int, comment: String? = nil) {
    (labels, isAmbisonic, areMicrophones) = (SoundLabels(), false, false)
    (path, name, compression, output) = (WAVStream.name, WAVStream.name, nil, nil)
    self.sampleRate = sampleRate
    place = .stream(WAVStream(channels: channels, sampleRate: sampleRate, comment: comment))
  }

  /// Appends frames, `[channel][frame]`. After an error no file is left.
  public func write(_ channels: [[Float]]) throws(AudioFileError) {
    let interleaved = AudioClip(sampleRate: sampleRate, channels: channels).interleaved
    peak = interleaved.reduce(peak) { max($0, $1.magnitude) }
    switch place {
    case .stream(let stream): try stream.write(interleaved)
    case .file(let writer):
      do throws(AudioFileError) { try writer.write(interleaved) } catch {
        writer.abandon()
        throw error
      }
    }
  }

  /// Completes the file. After an error no file is left.
  /// - Parameter isWanted: asked again and again while it is compressed; false for an end without a file.
  public func close(while isWanted: () -> Bool = { true }) throws(AudioFileError) {
    switch place {
    case .stream(let stream): return try stream.close()
    case .file(let writer):
      // The comments of a compressed file have its places, and so have the markers of CAF.
      try writer.close(cues: compression == nil && !path.lowercased().hasSuffix(".caf") ? labels.cues : [])
    }
    guard let compression else { return }
    do throws(AudioFileError) {
      _ = try compression.replace(
        wav: name, as: output, labels: labels, isAmbisonic: isAmbisonic, areMicrophones: areMicrophones,
        while: isWanted)
    } catch {
      unlink(name)
      throw error
    }
  }

  /// Leaves no file.
  public func abandon() {
    if case .file(let writer) = place { writer.abandon() }
  }
}

extension AudioClip {
  /// Writes the clip in the format that the name asks for.
  /// - Parameter replacing: as for `OutputFile`.
  /// - Returns: what was written.
  @discardableResult
  public func write(
    _ path: String, areMicrophones: Bool = false, broadcast: BroadcastExtension? = nil, replacing: Bool = true
  ) throws(AudioFileError) -> SoundOutput {
    let output = try SoundOutput(
      path: path, channels: channels.count, sampleRate: sampleRate, areMicrophones: areMicrophones,
      labels: SoundLabels(broadcast: broadcast), replacing: replacing)
    try output.write(channels)
    try output.close()
    return output
  }
}
