/// 64-bit FNV-1a hash. Not cryptographic: collisions are improbable by chance but easy to construct.
/// - Source: Fowler, Noll and Vo; RFC 9923.
package struct ContentHash {
  private var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// 16 hexadecimal digits.
  package var digits: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The hash of the file at `path`; nil if it cannot be read.
  package static func ofFile(_ path: String) -> String? {
    var hash = ContentHash()
    do { try InputFile(path: path, kind: "a file").forEachBlock { hash.add($0) } } catch { return nil }
    return hash.digits
  }
}
