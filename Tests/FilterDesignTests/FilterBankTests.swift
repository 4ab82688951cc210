import Acoustics
import AudioFiles
import FilterBanks
import FilterDesign
import Foundation
import HeadResponses
import Measurements
import Numerics
import Synchronization
import TestSupport
import Testing

@Suite("Filter banks") struct FilterBankTests {
  /// Runs `body` with a temporary folder.
  static func withFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = NSTemporaryDirectory() + "pinna-design-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
  }

  @Test("a written bank is read back unchanged") func roundTrip() throws {
    try Self.withFolder { folder in
      try Banks.phone5.bank.write(folder: folder)
      #expect(try FilterBank(folder: folder) == Banks.phone5.bank)
    }
  }

  @Test("a bank's files have the documented format") func fileFormat() throws {
    try Self.withFolder { folder in
      let bank = Banks.phone5.bank
      try bank.write(folder: folder)
      let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/filters.json"))
      let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      #expect(json["format"] as? Int == 1 && json["sampleRate"] as? Int == 48_000)
      #expect(json["microphones"] as? [String] == ["bottom-left", "bottom-right", "front", "back", "top"])
      let cases = try #require(json["cases"] as? [[String: Any]])
      // The directional patterns of these microphones need the phone's body, which this bank lacks.
      #expect(cases.count == 11)
      let notOffered = try #require(json["notOffered"] as? [[String: Any]])
      let patterns = ["subcardioid", "cardioid", "supercardioid", "hypercardioid"]
      #expect(notOffered.map { $0["polarPattern"] as? String } == patterns + patterns, "\(notOffered)")
      for entry in cases {
        let mono = entry["polarPattern"] as? String != "stereo"
        #expect(mono == (entry["inputOrientation"] is NSNull))
        #expect(entry["delayFrames"] as? Int == 64)
        let clip = try AudioClip(path: folder + "/" + (entry["file"] as? String ?? ""))
        #expect(clip.channels.count == 10 && clip.frames == 256 && clip.sampleRate == 48_000)
      }
      let entry = try #require(
        cases.first {
          $0["dataSource"] as? String == "Back" && $0["inputOrientation"] as? String == "landscapeLeft"
        })
      let clip = try AudioClip(path: folder + "/" + (entry["file"] as? String ?? ""))
      let taps = Banks.phone5.coefficients("Back", .stereo, .landscapeLeft).taps
      #expect(clip.channels[1 * 5 + 3] == taps[1][3])
    }
  }

  @Test("a folder without a format version is read; one of another version is refused in a sentence")
  func formatVersion() throws {
    try Self.withFolder { folder in
      try Banks.pair.bank.write(folder: folder)
      let path = folder + "/filters.json"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      func read(_ line: String) throws -> FilterBank {
        try text.replacing("\"format\" : 1,", with: line).write(
          toFile: path, atomically: true, encoding: .utf8)
        return try FilterBank(folder: folder)
      }
      #expect(try read("").cases.count == Banks.pair.bank.cases.count)
      let refusal = #expect(throws: DesignError.self) { try read("\"format\" : 2,") }
      #expect(refusal?.description.contains("format 2") == true)
    }
  }

  @Test("a folder whose files point outside itself is refused") func outsideFolder() throws {
    try Self.withFolder { folder in
      try Banks.pair.bank.write(folder: folder)
      let path = folder + "/filters.json"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try text.replacingOccurrences(of: "front-cardioid.wav", with: "../front-cardioid.wav")
        .write(toFile: path, atomically: true, encoding: .utf8)
      #expect(throws: DesignError.self) { try FilterBank(folder: folder) }
    }
  }

  @Test("the cache returns the designed bank") func cache() throws {
    try Self.withFolder { cache in
      let device = TestDevices.pair()
      let first = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache)
      let calls = Mutex<[Double]>([])
      let second = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache) { part in
        calls.withLock { $0.append(part) }
      }
      #expect(first == Banks.pair.bank && second == first)
      #expect(calls.withLock { $0 } == [], "the second bank was designed again")
    }
  }

  /// Ways to alter a stored set: of the sound file, or of the JSON.
  static let alterations: [(kind: String, what: String, alter: @Sendable ([UInt8]) -> [UInt8])] = {
    func replacing(_ old: String, _ new: String) -> @Sendable ([UInt8]) -> [UInt8] {
      {
        let text = String(decoding: $0, as: UTF8.self)
        precondition(text.contains(old), "the JSON has no \(old)")
        return Array(text.replacing(old, with: new, maxReplacements: 1).utf8)
      }
    }
    func flipping(_ place: @escaping @Sendable ([UInt8]) -> Int, _ bit: UInt8)
      -> @Sendable ([UInt8]) -> [UInt8]
    {
      { bytes in
        var altered = bytes
        altered[place(bytes)] ^= bit
        return altered
      }
    }
    /// Where the chunk begins that says rate and channels.
    @Sendable func format(_ bytes: [UInt8]) -> Int {
      bytes.indices.first { bytes[$0...].starts(with: Array("fmt ".utf8)) }!
    }
    let frame = 2 * 2 * 4
    return [
      ("wav", "the last bit of the last tap", flipping({ $0.count - 4 }, 1)),
      ("wav", "a tap's sign", flipping({ $0.count - 101 }, 0x80)),
      ("wav", "a tap's exponent", flipping({ $0.count / 2 | 3 }, 0x40)),
      ("wav", "the rate", flipping({ format($0) + 12 }, 1)),
      ("wav", "the number of channels", flipping({ format($0) + 10 }, 2)),
      ("wav", "a frame less", { Array($0.dropLast(frame)) }),
      ("wav", "half of it", { Array($0.prefix($0.count / 2)) }),
      ("wav", "its header alone", { Array($0.prefix(44)) }),
      ("wav", "empty", { _ in [] }),
      ("wav", "no sound", { _ in Array("not sound".utf8) }),
      ("wav", "silence", { Array($0.prefix(100)) + [UInt8](repeating: 0, count: $0.count - 100) }),
      (
        "wav", "two frames exchanged",
        { Array($0.dropLast(2 * frame) + $0.suffix(frame) + $0.suffix(2 * frame).prefix(frame)) }
      ),
      ("json", "another delay", replacing("\"delayFrames\" : 64", "\"delayFrames\" : 63")),
      ("json", "another case", replacing("\"cardioid\"", "\"supercardioid\"")),
      ("json", "another microphone", replacing("\"front\"", "\"frond\"")),
      ("json", "another length", replacing("\"taps\" : 256", "\"taps\" : 128")),
      ("json", "an endless length", replacing("\"taps\" : 256", "\"taps\" : 9223372036854775807")),
      ("json", "another rate", replacing("\"sampleRate\" : 48000", "\"sampleRate\" : 44100")),
      ("json", "another checksum", replacing("\"checksum\" : \"", "\"checksum\" : \"0")),
      ("json", "no checksum", replacing("\"checksum\"", "\"checksun\"")),
      ("json", "half of it", { Array($0.prefix($0.count / 2)) }),
      ("json", "empty", { _ in [] }),
    ]
  }()

  @Test(
    "a stored set whose taps, JSON or length were altered is never played: it is designed again, and repaired",
    .long,
    arguments: alterations.indices)
  func altered(number: Int) throws {
    let (kind, what, alter) = Self.alterations[number]
    try Self.withFolder { cache in
      let device = TestDevices.pair()
      let path = "\(cache)/\(FilterBank.storedName(device: device, sampleRate: 48_000))"
      try Banks.pair.bank.store(in: cache, as: URL(fileURLWithPath: path).lastPathComponent)
      #expect(try FilterBank(storedAt: path) == Banks.pair.bank)
      let file = URL(fileURLWithPath: "\(path).\(kind)")
      let before = try Data(contentsOf: file)
      try Data(alter(Array(before))).write(to: file)
      #expect(try Data(contentsOf: file) != before, "\(what) alters nothing")
      #expect(throws: (any Error).self, "\(kind): \(what)") { try FilterBank(storedAt: path) }
      #expect(try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache) == Banks.pair.bank)
      #expect(try FilterBank(storedAt: path) == Banks.pair.bank, "the set was not repaired")
    }
  }

  @Test("two files of different sets are no set")
  func mixed() throws {
    try Self.withFolder { cache in
      try Banks.pair.bank.store(in: cache, as: "a")
      var other = Banks.pair.bank
      other.cases.swapAt(0, 1)
      try other.store(in: cache, as: "b")
      try FileManager.default.removeItem(atPath: cache + "/a.wav")
      try FileManager.default.copyItem(atPath: cache + "/b.wav", toPath: cache + "/a.wav")
      #expect(throws: DesignError.self) { try FilterBank(storedAt: cache + "/a") }
    }
  }

  @Test(
    "a stored set is two files; a FIFO in place of one is refused, and what designs left unfinished is removed"
  )
  func unfinished() throws {
    try Self.withFolder { cache in
      let files = FileManager.default
      try Banks.pair.bank.store(in: cache, as: "a")
      #expect(try Set(files.contentsOfDirectory(atPath: cache)) == ["a.wav", "a.json"])
      for kind in ["wav", "json"] {
        try Banks.pair.bank.store(in: cache, as: "b")
        try files.removeItem(atPath: cache + "/b.\(kind)")
        #expect(mkfifo(cache + "/b.\(kind)", 0o600) == 0)
        #expect(throws: (any Error).self) { try FilterBank(storedAt: cache + "/b") }
      }
      try files.createDirectory(atPath: cache + "/old-set", withIntermediateDirectories: true)
      try Data([1]).write(to: URL(fileURLWithPath: cache + "/c.wav.part"))
      try Data([1]).write(to: URL(fileURLWithPath: cache + "/d.wav.part"))
      var times = [
        timeval(tv_sec: time(nil) - 601, tv_usec: 0), timeval(tv_sec: time(nil) - 601, tv_usec: 0),
      ]
      #expect(utimes(cache + "/c.wav.part", &times) == 0)
      try Banks.pair.bank.store(in: cache, as: "b")
      #expect(
        try Set(files.contentsOfDirectory(atPath: cache)) == [
          "a.wav", "a.json", "b.wav", "b.json", "d.wav.part",
        ],
        "another process may still write the file that is new")
    }
  }

  @Test("a cache that cannot be written is no error") func unwritableCache() throws {
    let bank = try FilterBank.cached(device: TestDevices.pair(), sampleRate: 48_000, cache: "/dev/null/cache")
    #expect(bank == Banks.pair.bank)
  }

  @Test("keys differ for devices and rates with different filters") func keys() {
    let keys = [
      DesignKey(device: TestDevices.pair(), sampleRate: 48_000),
      DesignKey(device: TestDevices.pair(), sampleRate: 44_100),
      DesignKey(device: TestDevices.pair(patterns: [.omnidirectional]), sampleRate: 48_000),
      DesignKey(device: TestDevices.phone5(), sampleRate: 48_000),
      DesignKey(device: TestDevices.phone5(body: .free), sampleRate: 48_000),
      DesignKey(
        device: TestDevices.phone5().with(hrtf: MeasuredManifoldTests.golden + "/sphere.sofa"),
        sampleRate: 48_000),
    ]
    #expect(Set(keys.map(\.hash)).count == keys.count)
    #expect(DesignKey(device: TestDevices.pair(), sampleRate: 48_000).hash == keys[0].hash)
  }

  /// On any processor: the filters were designed on another one. Between OpenBLAS's kernels for Prescott,
  /// Haswell and SkylakeX, the designs of all shipped devices differ by at most −139 dB; see `RoundingTests`.
  @Test(
    "the shipped filters agree with fresh designs",
    arguments: [Banks.phone3, Banks.linear8, Banks.glasses8, Banks.phone5Box])
  func shippedFilters(designed: Banks.Designed) throws {
    let name = FilterBank.storedName(device: designed.device, sampleRate: 48_000)
    let shipped = try FilterBank(storedAt: "\(repositoryFolder)/Presets/filters/\(name)")
    #expect(shipped.cases.map(\.filterCase) == designed.bank.cases.map(\.filterCase))
    for (a, b) in zip(shipped.cases, designed.bank.cases) {
      #expect(RoundingTests.difference(a.taps, b.taps).value < -60, "\(a.filterCase)")
    }
  }

  @Test("A14: filters that ship are found without the HRTF file, whose hash the key has")
  func shippedKey() throws {
    let device = TestDevices.phone5()
    let key = DesignKey(device: device, sampleRate: 48_000, packagedHead: true)
    #expect(key.text.contains("hrtf \(HRTF.packagedHash);"))
    // The packaged file is what the filters were designed with, so designs of today have the same key.
    #expect(ContentHash.ofFile(HRTF.defaultPath) == HRTF.packagedHash)
    #expect(DesignKey(device: device, sampleRate: 48_000).hash == key.hash)
    // Another head is never taken for the packaged one.
    let other = device.with(hrtf: MeasuredManifoldTests.golden + "/sphere.sofa")
    #expect(
      DesignKey(device: other, sampleRate: 48_000, packagedHead: true).hash
        == DesignKey(device: other, sampleRate: 48_000).hash)
  }

  @Test("progress rises from 0 to 1") func progress() throws {
    let calls = Mutex<[Double]>([])
    _ = try FilterBank.design(device: TestDevices.pair(), sampleRate: 48_000) { part in
      calls.withLock { $0.append(part) }
    }
    let parts = calls.withLock { $0 }
    #expect(parts == parts.sorted() && parts.first == 0 && parts.last == 1, "\(parts)")
  }

  @Test("a device without microphones or data sources is a design error") func emptyDevices() throws {
    let pair = TestDevices.pair()
    for device in [pair.without(microphones: ["front", "back"]), try pair.with(dataSources: [])] {
      #expect(throws: DesignError.self) { try FilterBank.design(device: device, sampleRate: 48_000) }
    }
  }
}
