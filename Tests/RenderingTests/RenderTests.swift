import Acoustics
import FilterDesign
import Foundation
import Rendering
import Settings
import TestSupport
import Testing

/// The computation of `pinna render`. This target depends on no room that links JACK.
@Suite("Rendering") struct RenderTests {
  private static let device = TestDevices.pair()
  private static let selection = Selection(
    dataSource: "Front", polarPattern: .cardioid, inputOrientation: .portrait)

  /// Filters of noise, instead of a design.
  private static func sets(_ noise: inout SeededNoise) -> (FilterSets, taps: [[Float]]) {
    let taps = noise.filters(microphones: 2, taps: 300)
    let bank = FilterBank(
      device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name), delayFrames: 0,
      tapCount: 300,
      cases: [
        FilterCoefficients(
          filterCase: FilterCase(dataSource: "Front", polarPattern: .cardioid, inputOrientation: nil),
          taps: [taps[0], taps[0]])
      ])
    return (FilterSets(bank), taps[0])
  }

  @Test(
    "the rendered sound is the convolution of microphones and filters, times the gain",
    arguments: [64, 1000, 1024])
  func convolution(period: Int) throws {
    var noise = SeededNoise(seed: 13)
    let (sets, taps) = Self.sets(&noise)
    let microphones = (0..<2).map { _ in noise.samples(5000) }
    let rendered = try sets.render(
      microphones, selection: Self.selection, of: Self.device, gain: Decibels(-6), period: period)
    let expected = directConvolution(microphones, taps).map { $0 * Decibels(-6).amplitude }
    #expect(rendered.left.count == 5000)
    #expect(differences(rendered.left, rendered.right) == 0)
    let error = zip(rendered.left, expected).map { abs(Double($0) - $1) }.max()!
    #expect(error < 1e-4 * expected.map(abs).max()!)
  }

  @Test(
    "each channel of B-format is the convolution of microphones and its filters, of an even or odd number",
    arguments: [1, 2])
  func ambisonics(order: Int) throws {
    var noise = SeededNoise(seed: 15)
    let selection = Selection(
      dataSource: "Front", polarPattern: try #require(.ambisonics(order: order)),
      inputOrientation: .portrait)
    let ring = [("a", 0, 20, 0), ("b", 20, 0, 0), ("c", -20, 0, 0), ("d", 0, -20, 0), ("e", 0, 0, 20)]
    let device = try Device(
      name: "five", title: "Five", body: .free,
      microphones: TestDevices.microphones(ring.map { ($0.0, Double($0.1), Double($0.2), Double($0.3)) }),
      dataSources: [
        TestDevices.source("Front", .front, .plusZ, microphones: Array(0..<5), [.omnidirectional])
      ]
    ).ambisonics(selection)
    let channels = (order + 1) * (order + 1)
    let taps = (0..<channels).map { _ in noise.filters(microphones: 5, taps: 300)[0] }
    let bank = FilterBank(
      device: device.name, sampleRate: 48000, microphones: device.microphones.map(\.name), delayFrames: 0,
      tapCount: 300, cases: [FilterCoefficients(filterCase: selection.filterCase, taps: Taps(taps))])
    let microphones = (0..<5).map { _ in noise.samples(5000) }
    var rendered = [[Float]](repeating: [], count: channels)
    var parts = [microphones]
    try FilterSets(bank).render(
      [FilterSets.Feed(FeedSetting(selection))], of: device, next: { parts.popLast() },
      write: { outputs in
        #expect(outputs[0].count == channels)
        for (channel, samples) in outputs[0].enumerated() { rendered[channel] += samples }
      })
    for (channel, samples) in rendered.enumerated() {
      let expected = directConvolution(microphones, taps[channel])
      #expect(samples.count == 5000)
      let error = zip(samples, expected).map { abs(Double($0) - $1) }.max()!
      #expect(error < 1e-4 * expected.map(abs).max()!, "\(channel)")
    }
  }

  /// How far a fade that begins with `frame` has got in frame `n`.
  private static func part(_ n: Int, _ frame: Int) -> Double {
    n < frame ? 0 : n >= frame + 960 ? 1 : 0.5 - 0.5 * cos(.pi * (Double(n - frame) + 0.5) / 960)
  }

  @Test(
    "substituted filters fade in from exactly their frame, whatever the period, and those from frame 0 are in force at once",
    arguments: [64, 1000, 1024])
  func substitutions(period: Int) throws {
    var noise = SeededNoise(seed: 14)
    let (whole, taps) = Self.sets(&noise)
    let (fallback, others) = Self.sets(&noise)
    let microphones = (0..<2).map { _ in noise.samples(9000) }
    let rendered = try whole.render(
      microphones, selection: Self.selection, of: Self.device,
      substitutions: [
        .init(frame: 0, filters: fallback), .init(frame: 2345, filters: nil),
        .init(frame: 6001, filters: fallback),
      ], period: period)
    let (all, rest) = (directConvolution(microphones, taps), directConvolution(microphones, others))
    let expected = (0..<9000).map { n -> Double in
      let share = Self.part(n, 2345) - Self.part(n, 6001)
      return share * all[n] + (1 - share) * rest[n]
    }
    let error = zip(rendered.left, expected).map { abs(Double($0) - $1) }.max()!
    #expect(error < 1e-4 * expected.map(abs).max()!, "\(error)")
  }

  @Test("sound that comes in parts is rendered to the bit as in one piece", arguments: [64, 1000, 1024])
  func parts(period: Int) throws {
    var noise = SeededNoise(seed: 16)
    let (sets, _) = Self.sets(&noise)
    let (fallback, _) = Self.sets(&noise)
    let microphones = (0..<2).map { _ in noise.samples(9001) }
    let substitutions = [
      FilterSets.Substitution(frame: 2345, filters: fallback), .init(frame: 6000, filters: nil),
      .init(frame: 9001, filters: fallback),
    ]
    let whole = try sets.render(
      microphones, selection: Self.selection, of: Self.device, substitutions: substitutions, period: period)
    for size in [1, 999, 3000, 9001] where size > 1 || period == 64 {
      var (left, right): ([Float], [Float]) = ([], [])
      var (given, longest) = (0, 0)
      var feed = FilterSets.Feed(FeedSetting(Self.selection))
      feed.substitutions = substitutions
      try sets.render(
        [feed], of: Self.device, period: period,
        next: {
          let part = given..<min(given + size, 9001)
          given = part.upperBound
          return part.isEmpty ? nil : microphones.map { Array($0[part]) }
        },
        write: {
          left += $0[0][0]
          right += $0[0][$0[0].count - 1]
          longest = max(longest, $0[0][0].count)
        })
      #expect(left == whole.left && right == whole.right && left.count == 9001, "\(size)")
      #expect(longest <= size + period)
    }
  }

  @Test(
    "changes of the selection fade in from their frame, and the first selection is in force at once",
    arguments: [64, 1000])
  func changes(period: Int) throws {
    var noise = SeededNoise(seed: 15)
    let taps = (0..<2).map { _ in noise.filters(microphones: 2, taps: 300)[0] }
    let patterns: [PolarPattern] = [.cardioid, .omnidirectional]
    let sets = FilterSets(
      FilterBank(
        device: Self.device.name, sampleRate: 48000, microphones: Self.device.microphones.map(\.name),
        delayFrames: 0, tapCount: 300,
        cases: zip(patterns, taps).map {
          FilterCoefficients(
            filterCase: FilterCase(dataSource: "Front", polarPattern: $0, inputOrientation: nil),
            taps: [$1, $1])
        }))
    let microphones = (0..<2).map { _ in noise.samples(9000) }
    let selections = patterns.map {
      Selection(dataSource: "Front", polarPattern: $0, inputOrientation: .portrait)
    }
    let start = 2345
    let rendered = try sets.render(
      microphones, selection: selections[0], of: Self.device, changes: [(start, selections[1])],
      period: period)
    #expect(rendered.left.count == 9000)
    let sounds = taps.map { directConvolution(microphones, $0) }
    let expected = (0..<9000).map { n -> Double in
      let share = Self.part(n, start)
      return share * sounds[1][n] + (1 - share) * sounds[0][n]
    }
    let error = zip(rendered.left, expected).map { abs(Double($0) - $1) }.max()!
    #expect(error < 1e-4 * expected.map(abs).max()!, "\(error)")
  }

  @Test("rendering refuses a selection that the device does not offer")
  func refusal() throws {
    var noise = SeededNoise(seed: 13)
    let (sets, _) = Self.sets(&noise)
    var selection = Self.selection
    selection.polarPattern = .stereo
    #expect(throws: Unsupported.self) {
      try sets.render([[0], [0]], selection: selection, of: Self.device)
    }
  }
}
