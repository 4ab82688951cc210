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
      // The subcardioids of these microphones need the phone's body, which this bank lacks.
      #expect(cases.count == 17)
      let notOffered = try #require(json["notOffered"] as? [[String: Any]])
      #expect(notOffered.map { $0["polarPattern"] as? String } == ["subcardioid", "subcardioid"])
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

  @Test("a broken cache entry is designed again and repaired") func brokenCache() throws {
    try Self.withFolder { cache in
      let device = TestDevices.pair()
      _ = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache)
      let entry = try #require(FileManager.default.contentsOfDirectory(atPath: cache).first)
      let file = "\(cache)/\(entry)/front-cardioid.wav"
      try Data("not sound".utf8).write(to: URL(fileURLWithPath: file))
      #expect(try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache) == Banks.pair.bank)
      #expect(
        try FilterBank(folder: "\(cache)/\(entry)") == Banks.pair.bank, "the cache entry was not repaired")
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
    let name = FilterBank.folderName(device: designed.device, sampleRate: 48_000)
    let shipped = try FilterBank(folder: "\(repositoryFolder)/Presets/filters/\(name)")
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
    #expect(parts == parts.sorted() && parts.first == 0 && parts.last == 1)
  }

  @Test("a device without microphones or data sources is a design error") func emptyDevices() throws {
    let pair = TestDevices.pair()
    for device in [pair.without(microphones: ["front", "back"]), try pair.with(dataSources: [])] {
      #expect(throws: DesignError.self) { try FilterBank.design(device: device, sampleRate: 48_000) }
    }
  }
}
