import Acoustics
import AudioFiles
import FilterBanks
import FilterDesign
import Foundation
import Manifolds
import TestSupport
import Testing

/// What lies in the cache is not believed.
@Suite("The cache") struct CacheTests {
  private let size: SIMD3<Double> = [0.03, 0.04, 0.008]
  private let positions: [Position] = [[0, 0.02, 0]]

  /// A sound file with the same header, and its samples changed.
  private func samples(_ change: @escaping (Float) -> Float) -> (Data) -> Data {
    { data in
      let start = data.range(of: Data("data".utf8))!.upperBound + 4
      let old = data[start...].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      return data[..<start] + old.map(change).withUnsafeBytes { Data($0) }
    }
  }

  @Test(
    "R50: stored filters and boxes that are cut, zeros, huge or another's are made anew, and unfinished files removed"
  )
  func cache() throws {
    let folder = try TemporaryFolder()
    let sets = try filterSets(folder.path + "/filters")
    let boxes = try boxes(folder.path + "/bodies")
    let (believed, count) = (sets.believed + boxes.believed, sets.count + boxes.count)
    Faults.report(
      "R50", done: "\(count) broken or foreign files in the cache: played or used as they were",
      measured: "\(believed)", limit: "0", kept: believed == 0)
  }

  /// - Returns: how many broken sets came out as they were, and of how many.
  private func filterSets(_ cache: String) throws -> (believed: Int, count: Int) {
    let device = TestDevices.pair()
    let wanted = Banks.pair.bank
    let path = "\(cache)/\(FilterBank.storedName(device: device, sampleRate: 48_000))"
    try wanted.store(in: cache, as: URL(filePath: path).lastPathComponent)
    let sound = URL(filePath: path + ".wav")
    let whole = try Data(contentsOf: sound)
    let unfinished = cache + "/old.wav.part"
    try Data([1]).write(to: URL(filePath: unfinished))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: unfinished)
    let broken: [(Data) -> Data] = [
      samples { _ in 0 }, samples { $0 * 1e30 }, samples { -$0 }, { $0.prefix($0.count / 2) },
      { _ in Data() },
      { Data(count: $0.count) },
    ]
    var believed = 0
    for change in broken {
      try change(whole).write(to: sound)
      let bank = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache)
      if bank != wanted { believed += 1 }
      #expect(bank == wanted)
      #expect(try Data(contentsOf: sound) == whole)
    }
    // Another device's set under this one's name.
    var other = wanted
    other.cases.swapAt(0, 1)
    try other.store(in: cache, as: URL(filePath: path).lastPathComponent)
    let bank = try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache)
    if bank != wanted { believed += 1 }
    #expect(bank == wanted)
    #expect(!FileManager.default.fileExists(atPath: unfinished))
    return (believed, broken.count + 1)
  }

  @Test(
    "beyond its limit, the cache loses the sets that were not used for longest; a file of another kind stays")
  func bound() throws {
    let folder = try TemporaryFolder()
    let cache = folder.path
    let (device, bank) = (TestDevices.pair(), Banks.pair.bank)
    let wanted = FilterBank.storedName(device: device, sampleRate: 48_000)
    func store(_ name: String, age: Double, limit: Int) throws {
      try bank.store(in: cache, as: name, sizeLimit: limit)
      for ending in [".json", ".wav"] where age > 0 {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: cache + "/" + name + ending)
      }
    }
    try store(wanted, age: 300, limit: .max)
    let files = FileManager.default
    let size = try files.contentsOfDirectory(atPath: cache).reduce(0) {
      $0 + (try files.attributesOfItem(atPath: cache + "/" + $1)[.size] as? Int ?? 0)
    }
    try Data(count: 10 * size).write(to: URL(filePath: cache + "/notes.txt"))
    try store("old", age: 200, limit: .max)
    try store("young", age: 100, limit: .max)
    // The oldest is used.
    #expect(try FilterBank.cached(device: device, sampleRate: 48_000, cache: cache) == bank)
    try store("new", age: 0, limit: 3 * size + size / 2)
    let kept: [String] = [wanted, "young", "new"].flatMap { [$0 + ".json", $0 + ".wav"] }
    #expect(try Set(files.contentsOfDirectory(atPath: cache)) == Set(kept + ["notes.txt"]))
  }

  private func boxes(_ folder: String) throws -> (believed: Int, count: Int) {
    let solutions = BoxSolutions(folder: folder)
    func responses(_ positions: [Position], _ solutions: BoxSolutions?) throws -> [UInt64] {
      try BoxManifold(positions: positions, size: size, solutions: solutions)
        .responses(from: [[1, 0, 0], [0, 0.6, 0.8]], frequencies: [500, 5000]).values.flatMap {
          [$0.real.bitPattern, $0.imaginary.bitPattern]
        }
    }
    let wanted = try responses(positions, nil)
    _ = try responses(positions, solutions)
    let file = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    let path = URL(filePath: "\(folder)/\(file)")
    let whole = try Data(contentsOf: path)
    let others = BoxSolutions(folder: folder + "-others")
    _ = try responses([[0, -0.02, 0]], others)
    let foreign = try FileManager.default.contentsOfDirectory(atPath: others.folder)[0]
    let unfinished = folder + "/a.box.x.part"
    try Data([1]).write(to: URL(filePath: unfinished))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -4000)], ofItemAtPath: unfinished)
    var huge = whole
    huge.replaceSubrange(whole.count - 8..<whole.count, with: withUnsafeBytes(of: 1e30) { Data($0) })
    let broken = [
      whole.prefix(whole.count / 2), Data(count: whole.count),
      whole.prefix(whole.count - 800) + Data(count: 800), huge,
      Data(), try Data(contentsOf: URL(filePath: "\(others.folder)/\(foreign)")),
    ]
    var believed = 0
    for data in broken {
      try data.write(to: path)
      let found = try responses(positions, solutions)
      if found != wanted { believed += 1 }
      #expect(found == wanted)
      #expect(try Data(contentsOf: path) == whole)
    }
    #expect(!FileManager.default.fileExists(atPath: unfinished))
    return (believed, broken.count)
  }
}
