/// Reproducible random mutations of good inputs, as a fuzzer feeds them to a parser.
public struct Mutation {
  private var random: SeededNoise
  private let corpus: [[UInt8]]
  private let words: [[UInt8]]

  /// - Parameters:
  ///   - corpus: good inputs.
  ///   - words: keywords of the parser.
  public init(seed: UInt64, corpus: [[UInt8]], words: [[UInt8]]) {
    random = SeededNoise(seed: seed)
    self.corpus = corpus
    // Numbers at the limits of their range, in either byte order.
    self.words =
      words + [[0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0, 0, 0x80], [0]]
  }

  /// One to six mutations of one of the inputs, which may join two of them or keep only the beginning.
  public mutating func next() -> [UInt8] {
    var bytes = corpus.randomElement(using: &random)!
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      guard !bytes.isEmpty else { return bytes }
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, place + 1 + Int.random(in: 0..<40, using: &random))
      switch Int.random(in: 0..<9, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.removeSubrange(place..<end)
      case 3:
        bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
      case 4: bytes.insert(contentsOf: words.randomElement(using: &random)!, at: place)
      case 5:
        let word = words.randomElement(using: &random)!.prefix(bytes.count - place)
        bytes.replaceSubrange(place..<place + word.count, with: word)
      case 6: bytes.removeSubrange(place...)
      case 7:
        let other = corpus.randomElement(using: &random)!
        bytes = bytes[..<place] + other.suffix(Int.random(in: 0...other.count, using: &random))
      default:
        for n in place..<end { bytes[n] = UInt8.random(in: 0...255, using: &random) }
      }
    }
    return bytes
  }
}
