/// How the channels of B-format are scaled.
public enum AmbisonicNormalisation: String, CaseIterable, Sendable {
  /// Of AmbiX: Schmidt's semi-normalised harmonics. No channel is louder than W for a single plane wave.
  case sn3d
  /// Orthonormal but for one factor: √(2l + 1) times SN3D in order l.
  case n3d
  /// Of .amb files: the largest value of each harmonic is 1, and W is 3 dB lower.
  case fuma
}

/// The channels of B-format in a file: their order, their scale, and what the file says of them.
public struct AmbisonicFormat: Sendable {
  public let order: Int
  public let normalisation: AmbisonicNormalisation

  public init(order: Int, normalisation: AmbisonicNormalisation) {
    (self.order, self.normalisation) = (order, normalisation)
  }

  /// The orders that have names in Furse and Malham's channel order.
  public static let fumaOrders = 1...3
  /// The ending of the files with that order, whose header has no place for another.
  public static let fumaEnding = ".amb"
  static let cafEnding = ".caf"

  /// Whether a file of this name can hold only B-format.
  public static func isNamed(by path: String) -> Bool {
    [fumaEnding, cafEnding].contains { path.lowercased().hasSuffix($0) }
  }

  /// "acn": by Ambisonic Channel Number, l² + l + m for order l and degree m. "fuma": W X Y Z R S T U V K L M N O P Q.
  public var channelOrder: String { normalisation == .fuma ? "fuma" : "acn" }

  /// What a file says of its channels where a text can stand: "Ambisonics of order 1: ACN channel order, SN3D".
  public var comment: String {
    let scale =
      switch normalisation {
      case .sn3d: "ACN channel order, SN3D normalisation (AmbiX)"
      case .n3d: "ACN channel order, N3D normalisation"
      case .fuma: "FuMa channel order, MaxN normalisation with W 3 dB lower"
      }
    return "\(Self.commentStart)\(order): \(scale)"
  }

  private static let commentStart = "Ambisonics of order "

  /// Whether a text has such a comment: files of B-format that Pinna wrote do, and feeds of takes.
  static func isNamed(inText text: String) -> Bool { text.contains(commentStart) }

  // MARK: Channels

  /// ACN of each channel in FuMa's order, and its factor from SN3D.
  /// - Source: D. G. Malham, Higher order Ambisonic systems (2003).
  private static let fuma: [(number: Int, factor: Double)] = [
    (0, 0.5.squareRoot()), (3, 1), (1, 1), (2, 1),
    (6, 1), (7, second), (5, second), (8, second), (4, second),
    (12, 1), (13, third.one), (11, third.one), (14, third.two), (10, third.two), (15, third.three),
    (9, third.three),
  ]
  private static let second = (4.0 / 3).squareRoot()
  private static let third = (
    one: (45.0 / 32).squareRoot(), two: (9.0 / 5).squareRoot(), three: (8.0 / 5).squareRoot()
  )

  /// For each channel of the file: the ACN of the harmonic, and its factor from SN3D.
  public var channels: [(number: Int, factor: Double)] {
    let count = (order + 1) * (order + 1)
    switch normalisation {
    case .sn3d: return (0..<count).map { ($0, 1) }
    case .n3d: return (0..<count).map { ($0, Self.n3d($0)) }
    case .fuma: return Array(Self.fuma.prefix(count))
    }
  }

  private static func n3d(_ number: Int) -> Double {
    let l = Double(number).squareRoot().rounded(.down)
    return (2 * l + 1).squareRoot()
  }

  /// The channels of the file.
  /// - Parameter ambix: shape `[channel][frame]`, in ACN order and SN3D.
  public func channels(of ambix: [[Float]]) -> [[Float]] {
    guard normalisation != .sn3d else { return ambix }
    return channels.map { number, factor in ambix[number].map { Float(Double($0) * factor) } }
  }

  // MARK: CAF

  /// The chunk "uuid" of AmbiX. Basic AmbiX is SN3D, and the chunk has its name only. Other scales are extended AmbiX:
  /// the matrix that makes SN3D of the channels stands in it, its rows and columns before it, big-endian.
  /// - Source: C. Nachbar, F. Zotter, E. Deleflie, A. Sontacchi, ambiX: a suggested Ambisonics format (2011); libambix
  ///   0.1.2 reads both (Tests/VerbTests).
  var ambixChunk: [UInt8] {
    guard normalisation != .sn3d else { return Self.ambixUUID }
    let channels = channels
    var words = [UInt32(channels.count), UInt32(channels.count)]
    for number in channels.indices {
      words += channels.map { $0.number == number ? Float(1 / $0.factor).bitPattern : 0 }
    }
    return Self.ambixUUID
      + words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
  }

  static let ambixUUID: [UInt8] = [
    0x1A, 0xD3, 0x18, 0xC3, 0x00, 0xE5, 0x55, 0x76, 0xBE, 0x2D, 0x0D, 0xCA, 0x24, 0x60, 0xBC, 0x89,
  ]
}
