import Foundation
import Presets
import TestSupport
import Testing

/// R15: hostile preset and device files.
@Suite("Hostile files", .serialized)
struct HostileFileTests {
  struct Attack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: Data
    let complaint: String

    init(_ name: String, _ text: String, _ complaint: String) {
      self.init(name, Data(text.utf8), complaint)
    }
    init(_ name: String, _ bytes: Data, _ complaint: String) {
      (testDescription, self.bytes, self.complaint) = (name, bytes, complaint)
    }
  }

  private static func times(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  static let attacks = [
    Attack("nothing", "", "the file is empty"),
    Attack("only a comment", "# nothing\n", "the file is empty"),
    Attack("deep flow lists", times("[", 200_000), "nested more than 16 deep"),
    Attack("deep flow mappings", times("{a: ", 60_000), "nested more than 16 deep"),
    Attack("deep block lists", times("- ", 100_000), "nested more than 16 deep"),
    Attack(
      "deep block mappings", (0..<300).map { times(" ", $0) + "a:\n" }.joined(), "nested more than 16 deep"),
    Attack("keys that are keys", times("? ", 100_000), "nested more than 16 deep"),
    Attack("an anchor", "title: &a x\n", "anchors (&) and aliases (*) are not allowed"),
    Attack("an alias", "title: *a\n", "anchors (&) and aliases (*) are not allowed"),
    Attack(
      "a billion laughs",
      "a: &a [x,x]\n"
        + (1..<9).map { "b\($0): &b\($0) [\(times("*a,", 9))*a]" }.joined(separator: "\n"),
      "1:4: anchors (&) and aliases (*) are not allowed"),
    Attack("a tag", "title: !!binary x\n", "tags (!) are not allowed"),
    Attack("a second document", "title: a\n---\ntitle: b\n", "a second document begins here"),
    Attack("a key given twice", "title: a\ntitle: b\n", "2:1: \"title\" is given twice, first in line 1"),
    Attack("a list as a key", "[a, b]: c\n", "a key is a list"),
    Attack("many values", "title: [\(times("a,", 120_000))]", "more than 10000 values"),
    Attack("many keys", (0..<20_000).map { "k\($0): 1\n" }.joined(), "more than 10000 values"),
    Attack("one long word", times("x", 250_000), "the file is \"" + times("x", 40) + "…\""),
    Attack("a long key", "\"\(times("k", 900))\": 1", "has an unknown key \"" + times("k", 40) + "…\""),
    Attack("too long", times("# comment\n", 30_000), "is longer than 256 KiB"),
    Attack("NUL bytes", Data("title: a\nbo".utf8) + Data([0, 0, 0]), "2:3: this is not plain text in UTF-8"),
    Attack("an escaped NUL", "title: \"a\\0b\"\n\"k\\0\": 1", "unknown key \"k\\u{0}\""),
    Attack("a line break in a key", "\"a\\nb\": 1", "unknown key \"a\\u{a}b\""),
    Attack(
      "invalid UTF-8", Data("title: a\nb: ".utf8) + Data([0xC3, 0x28]), "2:5: this is not plain text in UTF-8"
    ),
    Attack(
      "UTF-16", Data([0xFF, 0xFE, 0x61, 0, 0x3A, 0, 0x20, 0, 0x62, 0]), "1:1: this is not plain text in UTF-8"
    ),
    Attack("an open quotation", "title: \"abc", "this is not valid YAML"),
    Attack("an open bracket", "title: [a, b\nbody: free\n", "this is not valid YAML"),
    Attack("a tab as indentation", "a:\n\tb: 1\n", "a tab stands here"),
    Attack("a scalar", "hello", "the file is \"hello\"; write a group with the keys format, title"),
    Attack(
      "random bytes", Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435 >> 7) }),
      "this is not plain text in UTF-8"),
  ]

  @Test("a hostile file is refused in one line within 50 ms", arguments: attacks)
  func attack(_ attack: Attack) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(attack.bytes, to: "d.yaml")
    let message = try refusal(path)
    #expect(message.contains(attack.complaint), "\(message)")
  }

  @Test("a special file is refused without waiting for it")
  func specialFiles() throws {
    let folder = try TemporaryFolder()
    let fifo = folder.path + "/fifo.yaml"
    try #require(mkfifo(fifo, 0o600) == 0)
    #expect(try refusal(fifo).hasSuffix("is not a regular file; give a YAML file"))
    #expect(try refusal(folder.path).hasSuffix("is not a regular file; give a YAML file"))
    #expect(try refusal("/dev/zero").hasSuffix("is not a regular file; give a YAML file"))
    #expect(try refusal(folder.path + "/none.yaml").contains("there is no such file"))
    try folder.write(Data(count: 1 << 20), to: "huge.yaml")
    #expect(try refusal(folder.path + "/huge.yaml").hasSuffix("is longer than 256 KiB; shorten it"))
    let loop = folder.path + "/loop.yaml"
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(try refusal(loop).contains("cannot be read: Too many levels of symbolic links"))
  }

  @Test("a randomly damaged file is read or refused in one line", .long, arguments: 1...8)
  func mutations(seed: UInt64) throws {
    let good = Array(try Data(contentsOf: URL(filePath: repositoryFolder + "/Presets/devices/phone5.yaml")))
    let words = [
      "&a ", "*a", "!!t ", "1e308", "nan", "[", "{", "\n---\n", "- ", ": ", "\t", "\"", "\\", "\u{85}", "...",
    ]
    var random = SeededNoise(seed: seed)
    let folder = try TemporaryFolder()
    for _ in 0..<250 {
      var bytes = good
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8(Int.random(in: 0..<256, using: &random))
        case 1:
          bytes.removeSubrange(place..<min(bytes.count, place + 1 + Int.random(in: 0..<40, using: &random)))
        case 2:
          bytes.insert(contentsOf: words[Int.random(in: 0..<words.count, using: &random)].utf8, at: place)
        default:
          bytes.insert(
            contentsOf: bytes[place..<min(bytes.count, place + 30)],
            at: Int.random(in: 0..<place + 1, using: &random))
        }
      }
      let path = try folder.write(Data(bytes), to: "d.yaml")
      do {
        _ = try DeviceFile.read(YAMLReader(path: path))
      } catch {
        #expect(error.description.hasPrefix(path + ":") && !error.description.contains { $0.isNewline })
      }
    }
  }

  /// The sentence with which `path` is refused. The quickest of three attempts has to be quick, because other
  /// programs use the machine, too.
  private func refusal(_ path: String) throws -> String {
    var quickest = Duration.seconds(1000)
    var message = ""
    for _ in 0..<3 {
      quickest = min(
        quickest,
        ContinuousClock().measure {
          let error = #expect(throws: DescriptionError.self) { try DeviceFile.read(YAMLReader(path: path)) }
          message = error?.description ?? ""
        })
    }
    #expect(quickest <= .milliseconds(50))
    #expect(message.hasPrefix(path + ":"))
    #expect(!message.contains { $0.isNewline } && message.count < 500, "\(message)")
    return message
  }
}
