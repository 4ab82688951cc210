import Foundation

/// Sound files of 16 bits, byte by byte, whose headers state any length: as recorders that died, pipes and counters
/// that wrapped leave them.
public struct StatedSound: Sendable, CustomStringConvertible {
  public enum Container: String, Sendable, CaseIterable {
    case wav, rf64, bw64, w64, aiff, caf, au
  }

  /// What a header says of the sound's length in bytes.
  public enum Length: Sendable {
    case right
    case bytes(Int)
    /// What a program writes that does not know it.
    case open
  }

  public let container: Container
  public let length: Length
  /// What stands behind the sound.
  public let behind: [UInt8]

  public init(_ container: Container, _ length: Length, behind: [UInt8] = []) {
    (self.container, self.length, self.behind) = (container, length, behind)
  }

  public var description: String { "\(container), \(length)\(behind.isEmpty ? "" : ", more behind")" }

  /// The chunk LIST of ffmpeg.
  public static let listChunk = joined(
    text("LIST"), little(26, 4), text("INFOISFT"), little(14, 4), text("Lavf59.27.100\0"))

  public static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  public static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

  public static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  public static func big(_ value: Int, _ bytes: Int) -> [UInt8] { little(value, bytes).reversed() }

  /// - Parameter samples: interleaved.
  public func bytes(_ samples: [Int16], channels: Int, rate: Int = 48000) -> [UInt8] {
    let isBig = [.aiff, .caf, .au].contains(container)
    let sound = samples.flatMap { isBig ? Self.big(Int($0), 2) : Self.little(Int($0), 2) }
    return header(sound: sound.count, channels: channels, rate: rate) + sound + behind
  }

  /// What stands before the sound.
  public func header(sound: Int, channels: Int, rate: Int = 48000) -> [UInt8] {
    let stated: Int? =
      switch length {
      case .right: sound
      case .bytes(let bytes): bytes
      case .open: nil
      }
    return header(sound, stated, channels, rate)
  }

  private func header(_ sound: Int, _ stated: Int?, _ channels: Int, _ rate: Int) -> [UInt8] {
    let (little, big, text) = (Self.little, Self.big, Self.text)
    let format = Self.format(channels, rate)
    let frames = sound / (2 * channels)
    switch container {
    case .wav:
      return Self.joined(
        text("RIFF"), little(stated.map { $0 + 36 } ?? -1, 4), text("WAVEfmt "), little(16, 4), format,
        text("data"),
        little(stated ?? -1, 4))
    case .rf64, .bw64:
      return Self.joined(
        text(container.rawValue.uppercased()), little(-1, 4), text("WAVEds64"), little(28, 4),
        little((stated ?? 0) + 72, 8),
        little(stated ?? 0, 8), little(frames, 8), little(0, 4), text("fmt "), little(16, 4), format,
        text("data"),
        little(-1, 4))
    case .w64:
      let name = { (word: String) -> [UInt8] in
        text(word) + [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
      }
      return Self.joined(
        text("riff"), [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0, 0],
        little(sound + 104, 8),
        name("wave"), name("fmt "), little(40, 8), format, name("data"),
        little(stated.map { $0 + 24 } ?? 0, 8))
    case .aiff:
      return Self.joined(
        text("FORM"), big(sound + 46, 4), text("AIFFCOMM"), big(18, 4), big(channels, 2),
        big((stated ?? 0) / (2 * channels), 4), big(16, 2),
        // 48 000 Hz as an 80-bit float.
        [0x40, 0x0E, 0xBB, 0x80, 0, 0, 0, 0, 0, 0], text("SSND"), big(stated.map { $0 + 8 } ?? 0, 4),
        big(0, 8))
    case .caf:
      return Self.joined(
        text("caff"), big(1, 2), big(0, 2), text("desc"), big(32, 8),
        big(Int(bitPattern: UInt(Double(rate).bitPattern)), 8), text("lpcm"), big(0, 4), big(2 * channels, 4),
        big(1, 4), big(channels, 4), big(16, 4), text("data"), big(stated.map { $0 + 4 } ?? -1, 8), big(0, 4))
    case .au:
      return Self.joined(
        text(".snd"), big(24, 4), big(stated ?? -1, 4), big(3, 4), big(rate, 4), big(channels, 4))
    }
  }

  private static func format(_ channels: Int, _ rate: Int) -> [UInt8] {
    joined(
      little(1, 2), little(channels, 2), little(rate, 4), little(2 * channels * rate, 4),
      little(2 * channels, 2),
      little(16, 2))
  }
}
