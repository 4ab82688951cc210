/// FNV-1a, 64 bits: tells contents apart that nobody chose to be alike.
/// - Source: Fowler, Noll, Vo; RFC 9923.
struct ContentHash {
  private var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// 16 hexadecimal digits.
  var digits: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Of the file at `path`; nil where it cannot be read.
  static func ofFile(_ path: String) -> String? {
    var hash = ContentHash()
    do { try InputFile(path: path, kind: "a file").forEachBlock { hash.add($0) } } catch { return nil }
    return hash.digits
  }
}
