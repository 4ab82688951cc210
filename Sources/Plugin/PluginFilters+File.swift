import Acoustics
import Glibc
import Realtime
import Threads

/// The file of a bundle that holds them: lines of text up to an empty one, then all coefficients as 32-bit floats, little-
/// endian, in the order of the lines. The first line has a checksum over all that follows it.
extension PluginFilters {
  private static let format = "pinna-plugin-filters 1"
  /// Bounds what is read of files that claim more.
  private static let (mostBytes, mostTaps, mostCases) = (1 << 28, 1 << 16, 4096)

  /// Name of the file for a sample rate.
  public static func fileName(sampleRate: Int) -> String { "\(filePrefix)\(sampleRate)" }

  public static let filePrefix = "filters-"

  public var bytes: [UInt8] {
    var lines = [
      "rate \(sampleRate)", "delay \(delayFrames)", "microphones \(microphones)", "taps \(taps)",
      "offers \(dataSources) \(patterns) \(orientations)",
      "initial \(initial.dataSource) \(initial.pattern) \(initial.orientation) \(initial.gain) \(initial.highPass)",
    ]
    lines += cases.map {
      "case \($0.dataSource) \($0.pattern) \($0.orientation ?? -1) \($0.coefficients.count)"
    }
    lines += feeds.map { "feed \($0.gain) \($0.highPass) \($0.coefficients.count)" }
    var rest = Array((lines + ["", ""]).joined(separator: "\n").utf8)
    for filters in cases.map(\.coefficients) + feeds.map(\.coefficients) {
      for tap in filters.joined().joined() {
        withUnsafeBytes(of: tap.bitPattern.littleEndian) { rest.append(contentsOf: $0) }
      }
    }
    return Self.withChecksum(rest)
  }

  /// A file of these bytes, after the line with their checksum.
  package static func withChecksum(_ rest: [UInt8]) -> [UInt8] {
    Array("\(format) \(checksum(rest[...]))\n".utf8) + rest
  }

  /// Reads the file at `path`.
  /// - Throws: one sentence, if it is missing, or not what `bytes` gave.
  public init(path: String) throws(PluginError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw PluginError(
        "cannot open \(path): \(String(cString: strerror(errno))); pinna export --to lv2 --sample-rate writes filters for a rate"
      )
    }
    defer { close(descriptor) }
    guard let bytes = Descriptor.readAll(descriptor, limit: Self.mostBytes), bytes.count < Self.mostBytes
    else {
      throw PluginError("cannot read \(path); export the plug-in again")
    }
    guard let filters = PluginFilters(bytes) else {
      throw PluginError("\(path) is not as Pinna wrote it; export the plug-in again")
    }
    self = filters
  }

  /// - Returns: nil if the bytes are not those of filters.
  public init?(_ bytes: [UInt8]) {
    var reader = LineReader(bytes: bytes[...])
    guard let first = reader.line(), first.hasPrefix(Self.format + " "),
      first.dropFirst(Self.format.utf8.count + 1) == Self.checksum(reader.bytes),
      let rate = reader.integers("rate", 1)?[0], let delay = reader.integers("delay", 1)?[0],
      let microphones = reader.integers("microphones", 1)?[0], let taps = reader.integers("taps", 1)?[0],
      let offers = reader.integers("offers", 3), let initial = reader.words("initial", 5),
      (1...Partitioning.mostMicrophones).contains(microphones), (1...Self.mostTaps).contains(taps),
      (1...10_000_000).contains(rate),
      (0..<taps).contains(delay), offers.allSatisfy({ (1...64).contains($0) })
    else { return nil }
    var setting = PluginSetting()
    guard let source = Int(initial[0]), let pattern = Int(initial[1]), let orientation = Int(initial[2]),
      let gain = Double(initial[3]), let highPass = Double(initial[4]),
      Decibels.outputGains.contains(gain), highPass == 0 || HighPass.range.contains(highPass)
    else { return nil }
    (setting.dataSource, setting.pattern, setting.orientation) = (source, pattern, orientation)
    (setting.gain, setting.highPass) = (gain, highPass)
    // What mono patterns play does not depend on an orientation, but the table of choices does.
    guard (0..<offers[0]).contains(source), (0..<offers[1]).contains(pattern),
      (0..<offers[2]).contains(orientation)
    else { return nil }
    var cases: [[Int]] = []
    var feeds: [(gain: Float, highPass: Double, outputs: Int)] = []
    while let line = reader.line(), !line.isEmpty {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      if words.first == "case", words.count == 5, numbers.count == 4, feeds.isEmpty,
        cases.count < Self.mostCases
      {
        guard (0..<offers[0]).contains(numbers[0]), (0..<offers[1]).contains(numbers[1]),
          (-1..<offers[2]).contains(numbers[2]), (1...2).contains(numbers[3])
        else { return nil }
        cases.append(numbers)
      } else if words.first == "feed", words.count == 4, let gain = Float(words[1]),
        let corner = Double(words[2]),
        let outputs = Int(words[3]), gain.isFinite, (1...25).contains(outputs),
        corner == 0 || HighPass.range.contains(corner), feeds.count < Engine.mostFeeds
      {
        feeds.append((gain, corner, outputs))
      } else {
        return nil
      }
    }
    let outputs = cases.reduce(0) { $0 + $1[3] } + feeds.reduce(0) { $0 + $1.outputs }
    guard feeds.reduce(0, { $0 + $1.outputs }) <= Engine.mostFeedOutputs,
      reader.bytes.count == 4 * outputs * microphones * taps
    else { return nil }
    func filters(_ outputs: Int) -> [[[Float]]]? {
      let filters = (0..<outputs).map { _ in (0..<microphones).map { _ in reader.floats(taps) } }
      return filters.allSatisfy { $0.allSatisfy { $0.allSatisfy(\.isFinite) } } ? filters : nil
    }
    var readCases: [Case] = []
    for numbers in cases {
      guard let coefficients = filters(numbers[3]) else { return nil }
      readCases.append(
        Case(
          dataSource: numbers[0], pattern: numbers[1], orientation: numbers[2] < 0 ? nil : numbers[2],
          coefficients: coefficients))
    }
    var readFeeds: [Feed] = []
    for feed in feeds {
      guard let coefficients = filters(feed.outputs) else { return nil }
      readFeeds.append(Feed(gain: feed.gain, highPass: feed.highPass, coefficients: coefficients))
    }
    self.init(
      sampleRate: rate, delayFrames: delay, microphones: microphones, taps: taps, dataSources: offers[0],
      patterns: offers[1], orientations: offers[2], initial: setting, cases: readCases, feeds: readFeeds)
    guard index(of: setting) != nil else { return nil }
  }

  /// FNV-1a with 64 bits, in hexadecimal digits.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

/// Lines of text, then floats.
private struct LineReader {
  var bytes: ArraySlice<UInt8>

  /// The next line without its end; nil if none ends within 256 bytes.
  mutating func line() -> String? {
    guard let end = bytes.prefix(256).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { bytes = bytes[(end + 1)...] }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// What follows `name` in the next line: `count` words.
  mutating func words(_ name: String, _ count: Int) -> [Substring]? {
    guard let words = line()?.split(separator: " "), words.count == count + 1, words[0] == name else {
      return nil
    }
    return Array(words[1...])
  }

  mutating func integers(_ name: String, _ count: Int) -> [Int]? {
    let numbers = words(name, count)?.compactMap { Int($0) }
    return numbers?.count == count ? numbers : nil
  }

  mutating func floats(_ count: Int) -> [Float] {
    let part = bytes.prefix(4 * count)
    bytes = bytes.dropFirst(4 * count)
    return part.withUnsafeBytes { raw in
      (0..<count).map {
        Float(bitPattern: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)))
      }
    }
  }
}
