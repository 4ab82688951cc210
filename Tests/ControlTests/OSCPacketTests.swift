import Foundation
import Messages
import Settings
import Testing

@Suite("Packets of one message or a bundle") struct OSCPacketTests {
  static func bundle(_ parts: [UInt8]..., timeTag: UInt64 = 1) -> [UInt8] { bundle(parts, timeTag: timeTag) }

  static func bundle(_ parts: [[UInt8]], timeTag: UInt64 = 1) -> [UInt8] {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    return Array("#bundle\0".utf8) + bytes(timeTag) + parts.flatMap { bytes(UInt32($0.count)) + $0 }
  }

  static func gain(_ value: Float, _ number: String? = nil) -> [UInt8] {
    OSCMessage("/pinna/set/gain", [.float(value)] + (number.map { [.string($0)] } ?? [])).packet
  }

  /// A bundle inside `depth` − 1 others.
  static func nested(depth: Int) -> [UInt8] {
    (1..<depth).reduce(bundle(gain(1))) { inner, _ in bundle(inner) }
  }

  func refusal(_ packet: [UInt8], now: Date = Date()) -> Failure? {
    do throws(Failure) { _ = try OSCPacket.messages(in: packet, now: now) } catch { return error }
    return nil
  }

  @Test("the messages of nested bundles come in order, each with its own number")
  func order() throws {
    let packet = Self.bundle(
      Self.gain(1, "#a"), Self.bundle(Self.gain(2), Self.gain(3, "#c")), Self.gain(4))
    let messages = try OSCPacket.messages(in: packet)
    #expect(messages.map(\.message.words) == [["1.0"], ["2.0"], ["3.0"], ["4.0"]])
    #expect(messages.map(\.number) == ["#a", nil, "#c", nil])
    #expect(try OSCPacket.messages(in: Self.gain(5, "#e")).map(\.number) == ["#e"])
  }

  /// A message of numbers of 64 bits, which OSC 1.0 leaves to the programs: doubles (d) and integers (h).
  static func wide(_ path: String, _ tags: String, _ numbers: UInt64...) -> [UInt8] {
    func padded(_ text: String) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: 4 - text.utf8.count % 4)
    }
    return padded(path) + padded(tags)
      + numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
  }

  @Test("numbers of 64 bits are read as those of 32, cut packets of them are not")
  func wide() throws {
    func words(_ packet: [UInt8]) throws -> [String] {
      try OSCPacket.messages(in: packet).flatMap(\.message.words)
    }
    let double = { (number: Double) in number.bitPattern }
    #expect(
      try words(Self.wide("/ypr", ",ddd", double(30), double(-10.1), double(5e-3))) == [
        "30.0", "-10.1", "0.005",
      ])
    #expect(try words(Self.wide("/pinna/set/gain", ",d", double(-6.5))) == ["-6.5"])
    #expect(
      try words(Self.wide("/pinna/set/gain", ",hd", UInt64(bitPattern: -12), double(1))) == ["-12", "1.0"])
    // Too large for 32 bits: the nearest float.
    #expect(
      try words(Self.wide("/pinna/set/gain", ",hd", 1 << 40, double(1e300))) == ["1.0995116e+12", "inf"])
    for tags in [",d", ",h"] {
      for count in [1, 4, 8] {
        #expect(refusal(Array(Self.wide("/pinna/set/gain", tags, 0).dropLast(count)))?.status == .usage)
      }
    }
  }

  @Test("bundles are nested four deep at most, and have 64 messages at most")
  func limits() throws {
    #expect(refusal(Self.nested(depth: 4)) == nil)
    #expect(refusal(Self.nested(depth: 5))?.status == .usage)
    let many = { (count: Int) in Self.bundle([[UInt8]](repeating: Self.gain(0), count: count)) }
    #expect(try OSCPacket.messages(in: many(64)).count == 64)
    #expect(refusal(many(65))?.status == .usage)
    #expect(refusal(Self.bundle(many(40), many(40)))?.status == .usage)
  }

  @Test("a bundle of a past time runs, and one of a future time is refused as a whole, in a sentence")
  func timeTags() throws {
    // 2026-01-01, 00:00:00 UTC.
    let now = Date(timeIntervalSince1970: 1_767_225_600)
    let tag = UInt64(1_767_225_600 + 2_208_988_800) << 32
    #expect(refusal(Self.bundle(Self.gain(1), timeTag: tag), now: now) == nil)
    #expect(refusal(Self.bundle(Self.gain(1), timeTag: 0), now: now) == nil)
    let late = Self.bundle(Self.gain(1), Self.bundle(Self.gain(2), timeTag: tag + 1 << 32))
    #expect(refusal(late, now: now)?.description.contains("future") == true)
  }

  @Test(
    "malformed bundles are refused: empty, cut, of wrong sizes, with a malformed message",
    arguments: [
      bundle(), bundle(bundle()), Array(bundle(gain(1)).dropLast(4)), Array(bundle(gain(1)).dropLast()),
      bundle(gain(1), []), bundle(gain(1), Array("hello...".utf8)), Array("#bundle\0".utf8),
      bundle(gain(1)) + [0, 0], bundle(gain(1)) + [0xFF, 0xFF, 0xFF, 0xFC],
    ])
  func malformed(packet: [UInt8]) {
    #expect(refusal(packet)?.status == .usage)
  }
}
