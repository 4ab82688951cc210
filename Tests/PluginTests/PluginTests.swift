import Foundation
import Plugin
import Realtime
import TestSupport
import Testing

@Suite("the plug-in in a host") struct PluginTests {
  /// Noise of three microphones.
  static func noise(_ frames: Int, seed: UInt64 = 3) -> [[Float]] {
    SeededNoise.channels(3, frames, amplitude: 0.5, seed: seed)
  }

  /// What an engine of its own plays, with the same changes, in periods of `period`.
  static func reference(
    _ filters: PluginFilters, _ microphones: [[Float]], period: Int, first: Int = 0,
    changes: [(frame: Int, index: Int, gain: Float, highPass: Double?)] = []
  ) throws -> [[Float]] {
    let engine = Engine(microphones: 3, taps: filters.taps, sampleRate: Double(filters.sampleRate))
    let sets = filters.cases.map { FilterSet(coefficients: $0.coefficients) }
    engine.start(with: sets[first])
    let feed = FilterSet(coefficients: filters.feeds[0].coefficients)
    _ = engine.startFeed(with: feed, firstOutput: 0, gain: filters.feeds[0].gain, highPass: 80)
    var run = OfflineRun(engine, microphones: microphones, feedOutputs: 4)
    for change in changes {
      run.run(to: change.frame, period: period)
      _ = engine.drainReports()
      _ = try engine.change(to: sets[change.index], gain: change.gain, highPass: change.highPass)
    }
    run.run(total: microphones[0].count, period: period)
    return [run.left, run.right] + run.feeds
  }

  /// Plays so many blocks of 256 frames of noise.
  /// - Parameter change: sets controls before the block that begins with a frame.
  static func play(
    _ blocks: Int, hasWorker: Bool = true, _ controls: [PluginControl: Float] = [:],
    change: (Int, PluginHost) -> Void = { _, _ in }
  ) throws -> (PluginFilters, [[Float]], PluginHost, [[Float]]) {
    let (filters, sound) = (PluginHost.filters(), noise(blocks * 256))
    let folder = try PluginHost.bundle([filters])
    let host = try #require(
      PluginHost(folder.path, hasWorker: hasWorker, nominal: 256, controls: controls))
    return (
      filters, sound, host, host.play(sound, blocks: [Int](repeating: 256, count: blocks), change: change)
    )
  }

  @Test(
    "its outputs are those of Pinna's engine bit for bit, with a worker and without",
    arguments: [true, false])
  func same(hasWorker: Bool) throws {
    let (filters, sound, host, played) = try Self.play(
      20, hasWorker: hasWorker, [.pattern: 1, .orientation: 1])
    #expect(try played == Self.reference(filters, sound, period: 256, first: 2))
    #expect(host[.latency] == 64)
    #expect(host[.peakLeft] == Float(20 * log10(Double(played[0].map(abs).max()!))))
  }

  @Test(
    "changes begin with the block in which their control changes, as an engine's that are requested before it"
  )
  func changes() throws {
    let (filters, sound, host, played) = try Self.play(40) { frame, host in
      if frame == 8 * 256 { (host[.pattern], host[.orientation]) = (1, 0) }
      if frame == 20 * 256 { (host[.gain], host[.highPass]) = (-4.3, 120) }
      if frame == 30 * 256 { host[.mute] = 1 }
    }
    let gain = Float(pow(10, -4.3 / 20))
    #expect(
      try played
        == Self.reference(
          filters, sound, period: 256,
          changes: [(8 * 256, 1, 1, nil), (20 * 256, 1, gain, 120), (30 * 256, 1, 0, 120)]))
    #expect(host[.refused] == 0)
  }

  @Test("while it is locked, changes are counted as refused and take effect when the lock is off")
  func lock() throws {
    let (filters, sound, host, played) = try Self.play(40) { frame, host in
      if frame == 4 * 256 { host[.lock] = 1 }
      if frame == 8 * 256 { (host[.pattern], host[.gain]) = (1, -20) }
      if frame == 10 * 256 { host[.gain] = 0 }
      if frame == 11 * 256 { #expect(host[.refused] == 3) }
      if frame == 20 * 256 { host[.lock] = 0 }
    }
    #expect(try played == Self.reference(filters, sound, period: 256, changes: [(20 * 256, 1, 1, nil)]))
    #expect(host[.refused] == 3)
  }

  @Test(
    "a combination that is not offered keeps the sound and is counted; so are no values that are not numbers")
  func unoffered() throws {
    let (filters, sound, host, played) = try Self.play(20, [.dataSource: 1]) { frame, host in
      if frame == 4 * 256 { host[.pattern] = 1 }
      if frame == 6 * 256 {
        (host[.gain], host[.dataSource], host[.highPass]) = (.nan, .infinity, -.infinity)
      }
      if frame == 8 * 256 { (host[.gain], host[.dataSource], host[.highPass]) = (0, 1, 0) }
    }
    #expect(try played == Self.reference(filters, sound, period: 256, first: 3))
    #expect(host[.refused] == 1)
  }

  @Test("the controls' ports stand in the order of their list")
  func places() {
    #expect(PluginControl.allCases.map(\.place) == Array(PluginControl.allCases.indices))
  }

  @Test("values beyond the limits are the limits")
  func limits() throws {
    let (filters, sound, host, played) = try Self.play(40) { frame, host in
      if frame == 8 * 256 { (host[.dataSource], host[.pattern], host[.orientation]) = (-3, 9, 1e30) }
      if frame == 16 * 256 { (host[.gain], host[.highPass]) = (1e30, 1e30) }
      if frame == 24 * 256 { (host[.gain], host[.highPass]) = (-1e30, 19) }
    }
    let (loud, soft) = (Float(pow(10, 24.0 / 20)), Float(pow(10, -60.0 / 20)))
    #expect(
      try played
        == Self.reference(
          filters, sound, period: 256,
          changes: [(8 * 256, 2, 1, nil), (16 * 256, 2, loud, 400), (24 * 256, 2, soft, nil)]))
    #expect(host[.refused] == 0)
  }

  @Test("without a worker no block is silent, whatever its length")
  func anyLength() throws {
    let filters = PluginHost.filters()
    let folder = try PluginHost.bundle([filters])
    var random = SeededNoise(seed: 5)
    let blocks = (0..<12).map { _ in Int.random(in: 1...8192, using: &random) } + [1, 2, 3, 8192, 7]
    let sound = Self.noise(blocks.reduce(0, +))
    let host = try #require(PluginHost(folder.path, hasWorker: false))
    let played = host.play(sound, blocks: blocks)
    // A mono pattern is heard on both outputs.
    let exact = directConvolution(sound, filters.cases[0].coefficients[0])
    for output in 0...1 {
      let error = zip(played[output], exact).map { abs(Double($0) - $1) }.max()!
      #expect(error < 2e-5, "output \(output): \(error)")
    }
  }

  /// A host with a worker plays blocks; noise comes in the last 20 of them.
  /// - Parameter refusals: how many requests for work it refuses in these.
  /// - Returns: the largest error of them.
  private func play(blocks: [Int], rate: Int = 48000, refusals: Int = 0) throws -> Double {
    let filters = PluginHost.filters(rate: rate)
    let folder = try PluginHost.bundle([filters])
    let host = try #require(PluginHost(folder.path, rate: Double(rate), hasWorker: true, nominal: 256))
    let heard = Array(blocks.suffix(20))
    _ = host.play([[Float]](repeating: [], count: 3), blocks: Array(blocks.dropLast(20)))
    host.worker.refusals = refusals
    let sound = Self.noise(heard.reduce(0, +))
    let played = host.play(sound, blocks: heard)
    return zip(played[0], directConvolution(sound, filters.cases[0].coefficients[0]))
      .map { abs(Double($0) - $1) }.max()!
  }

  /// A block that is split once; another length for good; lengths that change all the time; long ones.
  private static let oddBlocks: [[Int]] = {
    func blocks(_ length: Int, _ count: Int = 10) -> [Int] { Array(repeating: length, count: count) }
    return [
      blocks(256, 8) + [100, 156] + blocks(256), blocks(256) + blocks(512), blocks(256) + blocks(96),
      (0..<20).map { [441, 441, 440][$0 % 3] }, blocks(7993, 20),
    ]
  }()

  @Test(
    "with a worker every block of a length that does not fit is exact, and all others are; also where the host refuses the work",
    arguments: oddBlocks, [0, 3, .max])
  func odd(blocks: [Int], refusals: Int) throws {
    #expect(try play(blocks: blocks, refusals: refusals) < 2e-5)
  }

  /// How a host serves the work that a change of length asks for: after so many blocks; nil for never.
  static let served: [Int?] = [0, 3, nil]
  static let lengths = [16, 32, 64, 100, 128, 256, 441, 512, 1024, 2048, 4096, 8192]

  @Test(
    "after every change between 16 and 8192 frames, the blocks are exact from the first on, whether the host serves the work, serves it late or never",
    arguments: lengths, served)
  func everyLength(first: Int, served: Int?) throws {
    let filters = PluginHost.filters()
    let folder = try PluginHost.bundle([filters])
    let sound = Self.noise(10 * 8192, seed: 5)
    #expect(
      sound.allSatisfy { !$0.contains(0) }, "what ends in zero is taken for a microphone that falls silent")
    let exact = directConvolution(sound, filters.cases[0].coefficients[0])
    for length in Self.lengths where length != first {
      let host = try #require(PluginHost(folder.path, hasWorker: true, nominal: Int32(first)))
      if served == nil { host.worker.refusals = .max }
      let blocks = [first, first] + [Int](repeating: length, count: max(6, min(64, 2048 / length)))
      let late = 2 * first..<2 * first + (served ?? 0) * length
      let played = host.play(sound, blocks: blocks, idle: late)
      for output in 0...1 {
        let error = zip(played[output], exact).map { abs(Double($0) - $1) }.max()!
        #expect(error < 2e-5, "\(first) to \(length), output \(output): \(error)")
      }
    }
  }

  @Test("after a minute of one length, blocks of it are played whole, without a gap")
  func regular() throws {
    let blocks = [100] + [Int](repeating: 2048, count: 251)
    #expect(try play(blocks: blocks, rate: 8000) < 2e-5)
  }

  @Test(
    "a rate without filters, a missing or a damaged file is refused",
    arguments: ["rate", "gone", "damaged", "cut", "empty", "ports", "pipe"])
  func refused(what: String) throws {
    let filters = PluginHost.filters()
    let folder = try PluginHost.bundle([filters])
    let file = folder.path + "/filters-48000"
    var bytes = filters.bytes
    switch what {
    case "gone": try FileManager.default.removeItem(atPath: file)
    case "damaged":
      bytes[bytes.count / 2] ^= 1
      try Data(bytes).write(to: URL(filePath: file))
    case "cut": try Data(bytes.dropLast()).write(to: URL(filePath: file))
    case "empty": try Data().write(to: URL(filePath: file))
    case "pipe":
      try FileManager.default.removeItem(atPath: folder.path + "/uri")
      mkfifo(folder.path + "/uri", 0o600)
    case "ports": try folder.write("urn:test:plugin\nports 3 2\n", to: "uri")
    default: break
    }
    #expect(PluginHost(folder.path, rate: what == "rate" ? 192_000 : 48000, hasWorker: true) == nil)
  }

  @Test("filters are read as they were written; no change of a byte, and no other header, is believed")
  func file() throws {
    let filters = PluginHost.filters(taps: 128)
    let bytes = filters.bytes
    #expect(PluginFilters(bytes) == filters)
    var random = SeededNoise(seed: 8)
    for _ in 0..<500 {
      var damaged = bytes
      damaged[Int.random(in: 0..<(Bool.random(using: &random) ? 400 : bytes.count), using: &random)] ^=
        1 << UInt8.random(in: 0..<8, using: &random)
      #expect(PluginFilters(damaged) == nil)
      #expect(PluginFilters(Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))) == nil)
    }
  }

  @Test("filters with any numbers and a right checksum are refused, or run within their bounds")
  func forged() throws {
    let bytes = PluginHost.filters(taps: 80).bytes
    let start = bytes.firstIndex(of: 0x0A)! + 1
    let end = bytes.indices.dropFirst().first { bytes[$0] == 0x0A && bytes[$0 - 1] == 0x0A }!
    let lines = String(decoding: bytes[start..<end], as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    let numbers = [
      "-1", "0", "1", "2", "3", "64", "99", "65536", "9223372036854775807", "-9223372036854775808",
    ]
    var random = SeededNoise(seed: 56)
    var accepted = 0
    for round in 0..<2000 {
      var forged = lines
      for _ in 0..<(round % 3) {
        let line = Int.random(in: 0..<forged.count, using: &random)
        let word = Int.random(in: 1..<forged[line].count, using: &random)
        forged[line][word] = numbers.randomElement(using: &random)!
      }
      // What the first block meets: the choices that are in force before a host says others.
      if round % 7 == 0 {
        forged[5][Int.random(in: 1...3, using: &random)] = numbers.randomElement(using: &random)!
      }
      let text = forged.map { $0.joined(separator: " ") }.joined(separator: "\n") + "\n"
      let rest = Array(text.utf8) + bytes[end...]
      guard let filters = PluginFilters(PluginFilters.withChecksum(rest)) else { continue }
      accepted += 1
      let setting = filters.initial
      #expect((0..<filters.dataSources).contains(setting.dataSource))
      #expect((0..<filters.patterns).contains(setting.pattern))
      #expect((0..<filters.orientations).contains(setting.orientation))
      let processor = PluginProcessor(filters)
      processor.activate(blockLength: 64)
      processor.runUnhurried(64)
    }
    #expect(accepted > 100)
  }

  @Test(
    "R27: a hundred instances, two at a time in two threads, at rates from 44.1 to 192 kHz and random lengths",
    .long
  )
  func instances() async throws {
    let rates = [44100, 48000, 88200, 96000, 176_400, 192_000]
    let folder = try PluginHost.bundle(
      rates.map { PluginHost.filters(rate: $0, taps: $0 > 50000 ? 512 : 256) })
    let sound = Self.noise(8192)
    await withTaskGroup(of: Int.self) { group in
      for thread in 0..<2 {
        group.addTask {
          var random = SeededNoise(seed: UInt64(thread))
          var finite = 0
          for n in 0..<50 {
            guard
              let host = PluginHost(
                folder.path, rate: Double(rates[n % 6]), hasWorker: n % 3 != 0,
                nominal: n % 2 == 0 ? 512 : nil)
            else { continue }
            let played = host.play(
              sound,
              blocks: [8192, 8192, 256, 256, 256, 256].map { Int.random(in: 1...$0, using: &random) } + [
                512, 512, 512,
              ]
            ) { _, host in
              host[.dataSource] = Float.random(in: -1...2, using: &random)
              host[.pattern] = Float.random(in: -1...2, using: &random)
              host[.orientation] = Float.random(in: -1...2, using: &random)
              host[.gain] = Float.random(in: -70...30, using: &random)
              host[.highPass] = Float.random(in: -10...500, using: &random)
            }
            if played.allSatisfy({ $0.allSatisfy(\.isFinite) }) { finite += 1 }
          }
          return finite
        }
      }
      var finite = 0
      for await one in group { finite += one }
      #expect(finite == 100)
    }
  }
}
