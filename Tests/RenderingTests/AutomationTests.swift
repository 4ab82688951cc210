import Acoustics
import FilterDesign
import Foundation
import Realtime
import Rendering
import Settings
import TestSupport
import Testing

/// Changes at times, and several feeds, in `pinna render`.
@Suite("Renderings that change") struct AutomationTests {
  private static let device = TestDevices.pair(patterns: patterns, stereo: [.portrait])
  private static let patterns: [PolarPattern] = [.omnidirectional, .cardioid, .stereo]

  private static func selection(_ pattern: PolarPattern) -> Selection {
    Selection(dataSource: "Front", polarPattern: pattern, inputOrientation: .portrait)
  }

  /// Filters of noise for three patterns.
  private static func sets(_ noise: inout SeededNoise, taps: Int) -> FilterSets {
    let cases = patterns.map { pattern in
      FilterCoefficients(
        filterCase: FilterCase(
          dataSource: "Front", polarPattern: pattern, inputOrientation: pattern == .stereo ? .portrait : nil),
        taps: [
          (0..<2).map { _ in noise.samples(taps, amplitude: 0.1) },
          (0..<2).map { _ in noise.samples(taps, amplitude: 0.1) },
        ])
    }
    return FilterSets(
      FilterBank(
        device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name), delayFrames: 0,
        tapCount: taps, cases: cases))
  }

  private static func play(_ pattern: PolarPattern, _ amplitude: Float, _ highPass: HighPass = .off)
    -> FeedSetting
  {
    var feed = FeedSetting(
      selection(pattern), gain: Decibels(amplitude > 0 ? 20 * log10(Double(amplitude)) : 0),
      highPass: highPass)
    feed.muted = amplitude == 0
    return feed
  }

  /// In periods. Two are closer than a fade.
  private static let changes: [(period: Int, play: FeedSetting)] = [
    (3, play(.cardioid, 1)), (20, play(.cardioid, 0.5)), (22, play(.stereo, 0.5)),
    (40, play(.stereo, 0.5, .on(Hertz(80)))),
    (60, play(.omnidirectional, 0, .on(Hertz(80)))), (80, play(.stereo, 1)),
  ]

  @Test(
    "six changes at their times equal, bit for bit, a live engine that they reach in the periods that begin there",
    arguments: [64, 480], [256, 3000])
  func sixChanges(period: Int, taps: Int) throws {
    var noise = SeededNoise(seed: 31)
    let sets = Self.sets(&noise, taps: taps)
    let frames = 120 * period + 17
    let microphones = (0..<2).map { _ in noise.samples(frames) }
    let engine = sets.makeEngine()
    func filters(_ play: FeedSetting) throws -> FilterSet {
      try sets.filters(for: play.selection, of: Self.device)
    }
    let first = Self.play(.omnidirectional, 0.7)
    engine.start(with: try filters(first), gain: first.amplitude)
    engine.prepare(period: period)
    var live = OfflineRun(engine, microphones: microphones)
    for n in 0...120 {
      for change in Self.changes where change.period == n {
        _ = try engine.change(
          to: filters(change.play), gain: change.play.amplitude,
          highPass: change.play.highPass.frequency?.value)
      }
      live.process(period)
      _ = engine.drainReports()
    }
    var feed = FilterSets.Feed(first)
    feed.changes = Self.changes.map { ($0.period * period, $0.play) }
    #expect(feed.channels == 2)
    // In parts that have nothing to do with the periods.
    var (parts, at) = ([[[Float]]](), 0)
    while at < frames {
      let count = min(frames - at, Int.random(in: 1...5000, using: &noise))
      parts.append(microphones.map { Array($0[at..<at + count]) })
      at += count
    }
    var coming = parts[...]
    var rendered: [[Float]] = [[], []]
    try sets.render(
      [feed], of: Self.device, period: period, next: { coming.popFirst() },
      write: { for c in 0..<2 { rendered[c] += $0[0][c] } })
    #expect(rendered == [Array(live.left.prefix(frames)), Array(live.right.prefix(frames))])
    #expect(rendered[0] != rendered[1] && rendered[0].contains { $0 != 0 })
  }

  @Test("a fade begins at exactly its frame, which need not begin a period")
  func exactFrame() throws {
    var noise = SeededNoise(seed: 32)
    let sets = Self.sets(&noise, taps: 64)
    let ones = (0..<2).map { _ in noise.samples(9000) }
    var feed = FilterSets.Feed(Self.play(.cardioid, 1))
    feed.changes = [(4321, Self.play(.cardioid, 0))]
    var (changed, steady): ([Float], [Float]) = ([], [])
    var parts = [ones]
    try sets.render([feed], of: Self.device, next: { parts.popLast() }, write: { changed += $0[0][0] })
    feed.changes = []
    parts = [ones]
    try sets.render([feed], of: Self.device, next: { parts.popLast() }, write: { steady += $0[0][0] })
    #expect(zip(changed, steady).prefix(4321).allSatisfy { abs($0 - $1) <= 1e-5 })
    // The raised cosine half a frame, and ten frames, after its start.
    for n in [4321, 4331, 4800, 5279] {
      let phase = Double.pi * (Double(n - 4321) + 0.5) / 960
      let gain = Float(0.5 + 0.5 * cos(phase))
      #expect(abs(changed[n] - gain * steady[n]) <= 1e-4)
    }
    #expect(changed[5281...].allSatisfy { $0 == 0 })
  }

  @Test("feeds rendered in one pass equal, bit for bit, renderings of each alone")
  func onePass() throws {
    var noise = SeededNoise(seed: 33)
    let sets = Self.sets(&noise, taps: 700)
    let fallback = Self.sets(&noise, taps: 700)
    let microphones = (0..<2).map { _ in noise.samples(20_000) }
    var feeds = [Self.play(.stereo, 1), Self.play(.cardioid, 0.3, .on(Hertz(80))), Self.play(.stereo, 2)].map
    {
      FilterSets.Feed($0)
    }
    feeds[1].substitutions = [.init(frame: 64 * 50, filters: fallback), .init(frame: 64 * 200, filters: nil)]
    func render(_ feeds: [FilterSets.Feed]) throws -> [[[Float]]] {
      var outputs = feeds.map { [[Float]](repeating: [], count: $0.channels) }
      var parts = [microphones]
      try sets.render(
        feeds, of: Self.device, period: 64, next: { parts.popLast() },
        write: {
          for (n, channels) in $0.enumerated() {
            for (c, samples) in channels.enumerated() { outputs[n][c] += samples }
          }
        })
      return outputs
    }
    let together = try render(feeds)
    #expect(together.map(\.count) == [2, 1, 2])
    for n in feeds.indices { #expect(try render([feeds[n]])[0] == together[n], "feed \(n)") }
  }
}
