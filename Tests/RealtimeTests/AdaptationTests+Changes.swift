import Foundation
import Realtime
import TestSupport
import Testing

/// Changes, turns and takes while filters follow the sound.
extension AdaptationTests {
  @Test(
    "a change fades over 20 ms from whatever sounds; filters for the setting before it are heard no more, and its own are",
    arguments: periods)
  func change(period: Int) throws {
    var scene = try Scene(period: period)
    var changed: (ticket: Ticket, start: Int)?
    while scene.run.position + period <= 8000 {
      let position = scene.run.position
      if position < 3000 {
        scene.deliver(1 + position / period % 2)
      } else if changed == nil {
        // Sets 1 and 2 belong to set 0.
        #expect(scene.stream.isAdapted)
        let ticket = try scene.engine.change(to: scene.sets[3], gain: 1)
        let start = max(position, (scene.left.end + period - 1) / period * period)
        changed = (ticket, start)
      }
      if let changed {
        if position == changed.start { scene.fade(to: 3, over: 960) }
        if position < changed.start + 960 {
          #expect(scene.stream.deliver(base: scene.sets[0], scene.filters[1]))
        } else {
          scene.deliver(4, base: 3)
        }
      }
      scene.process(period)
    }
    scene.check()
    let (ticket, start) = try #require(changed)
    #expect(scene.engine.drainReports() == [.applied(ticket, frame: start + 960)])
    #expect(scene.left.playing == 4)
  }

  @Test(
    "filters that follow the sound stay while the setting turns, until newer ones come, also those of the pose before; a real change or substitution plays its linear filters",
    arguments: periods, [false, true])
  func turn(period: Int, isChange: Bool) throws {
    let total = 24_000
    var scene = try Scene(period: period, total: total)
    var (step, ended, reports) = (0, 0, [Report]())
    var (turn, other): ((ticket: Ticket, frame: Int)?, (ticket: Ticket, frame: Int)?)
    while scene.run.position + period <= total {
      let position = scene.run.position
      if position / 2048 > step {
        step += 1
        switch step {
        case 1: scene.deliver(1, lineage: 1)
        case 2: turn = (try scene.engine.substitute(scene.sets[3], gain: 1, lineage: 1), position)
        case 3: scene.deliver(2, lineage: 1)
        case 4: scene.deliver(4, base: 3, lineage: 1)
        case 5: _ = try scene.engine.change(to: scene.sets[0], gain: 1, lineage: 1)
        case 6: scene.deliver(1, lineage: 1)
        case 7:
          let ticket =
            isChange
            ? try scene.engine.change(to: scene.sets[2], gain: 1, lineage: 2)
            : try scene.engine.substitute(scene.sets[2], gain: 1, lineage: 2)
          other = (ticket, position)
          scene.fade(to: 2, over: 960)
        case 8...9: #expect(scene.stream.deliver(base: scene.sets[0], lineage: 1, scene.filters[1]))
        case 10: scene.deliver(4, base: 2, lineage: 2)
        default: break
        }
      }
      scene.process(period)
      if step == 7 { ended = scene.stream.freeSlots }
      reports += scene.engine.drainReports()
    }
    scene.check()
    #expect(scene.left.playing == 4 && ended >= 3)
    let (turned, changed) = (try #require(turn), try #require(other))
    #expect(reports.contains(.applied(turned.ticket, frame: turned.frame + 128)))
    #expect(reports.contains(.applied(changed.ticket, frame: changed.frame + 960)))
    scene.stream.returnToBase()
    for _ in 0...960 / period { scene.run.process(period) }
    #expect(!scene.stream.isAdapted && scene.stream.freeSlots == 4)
  }

  @Test(
    "while a setting turns without pause and newer filters come for each pose, the linear ones are never heard",
    arguments: periods)
  func turns(period: Int) throws {
    let total = 24_000
    // The linear filters are silent: of the talkers alone.
    var noise = SeededNoise(seed: 8)
    let signals = (0..<2).map { _ in noise.samples(total, amplitude: 0.5) }
    let poses = (0..<2).map { _ in
      FilterSet(
        coefficients: [[[Float]]](
          repeating: [[Float]](repeating: [Float](repeating: 0, count: 64), count: 2), count: 2))
    }
    let filters = noise.filters(microphones: 2, taps: 64)
    let engine = Engine(microphones: 2, taps: 64, sampleRate: 48000, adapts: true)
    let stream = try #require(engine.stream)
    engine.start(with: poses[0], lineage: 1)
    engine.prepare(period: period)
    var run = OfflineRun(engine, microphones: signals)
    var (turned, pose) = (0, 0)
    while run.position + period <= total {
      // For the pose before, as the worker does.
      stream.deliver(base: poses[pose], lineage: 1, filters)
      if run.position / 480 > turned {
        (turned, pose) = (run.position / 480, 1 - pose)
        _ = try engine.substitute(poses[pose], gain: 1, lineage: 1)
      }
      run.process(period)
      _ = engine.drainReports()
    }
    let expected = directConvolution(signals, filters[0])
    let peak = expected.map(\.magnitude).max()!
    let error = (4096..<run.left.count).map { abs(Double(run.left[$0]) - expected[$0]) }.max()! / peak
    #expect(error <= 1e-6, "error \(error)")
    #expect(engine.statistics.lateAdaptations == 0)
  }

  @Test(
    "changes of gain fade over 20 ms what sounds, filters that follow the sound as well; between two of a row newer ones come",
    arguments: periods)
  func gain(period: Int) throws {
    let (total, gains) = (24_000, [1, 0.5, 0.25] as [Float])
    var scene = try Scene(period: period, total: total)
    let sets = scene.filters.count
    // Set after set with the first gain, then with the second one.
    var left = ExpectedOutput(
      gains.flatMap { gain in
        scene.filters.map { directConvolution(scene.signals, $0[0]).map { $0 * Double(gain) } }
      })
    // What sounds; what waits; whether the last fade was to newer filters.
    var (set, gain, isAdapted) = (0, 0, false)
    var (newer, change): (Int?, Int?)
    var changes = 0
    while scene.run.position + period <= total {
      let position = scene.run.position
      if (1000..<20_000).contains(position) {
        newer = 1 + position / period % 4
        #expect(scene.stream.deliver(base: scene.sets[0], scene.filters[newer!]))
      }
      // A fader moves for a while, and once more.
      if (6000..<12_000).contains(position) || (15_000..<15_000 + period).contains(position) {
        change = 1 + position / period % 2
        _ = try scene.engine.change(to: scene.sets[0], gain: gains[change!])
      }
      if position >= left.end {
        if let level = change, isAdapted || newer == nil {
          left.fade(to: level * sets + set, at: position, over: 960)
          (gain, change, isAdapted, changes) = (level, nil, false, changes + 1)
        } else if let next = newer {
          left.fade(to: gain * sets + next, at: position, over: scene.adaptedFade)
          (set, newer, isAdapted) = (next, nil, true)
        }
      }
      scene.run.process(period)
      _ = scene.engine.drainReports()
      #expect(scene.stream.freeSlots > 0)
    }
    let error = left.error(of: scene.run.left)
    #expect(error <= 1e-6, "error \(error)")
    #expect(changes >= 4 && set > 0 && gain > 0)
    scene.stream.returnToBase()
    for _ in 0...960 / period { scene.run.process(period) }
    #expect(!scene.stream.isAdapted && scene.stream.freeSlots == 4)
  }

  @Test(
    "gain and high-pass of the setting stay in force, and the old setting's filters are freed after a change")
  func settingStays() throws {
    var noise = SeededNoise(seed: 3)
    let filters = noise.filters(microphones: 2, taps: 256)
    let signals = (0..<2).map { _ in noise.samples(8000) }
    let runs = try [false, true].map { adapts in
      let engine = Engine(microphones: 2, taps: 256, sampleRate: 48000, adapts: true)
      let stream = try #require(engine.stream)
      engine.prepare(period: 64)
      var run = OfflineRun(engine, microphones: signals)
      weak var first: FilterSet?
      func begin() -> FilterSet {
        let set = FilterSet(coefficients: filters)
        engine.start(with: set, gain: 0.3, highPass: 120)
        first = set
        return set
      }
      var base: FilterSet? = begin()
      while run.position < 6400 {
        // The same filters under another name.
        if adapts, run.position > 1000, let base { stream.deliver(base: base, filters) }
        if run.position == 3200 {
          base = nil
          _ = try engine.change(to: FilterSet(coefficients: filters), gain: 0.6, highPass: 60)
        }
        run.process(64)
      }
      _ = engine.drainReports()
      #expect(first == nil && stream.freeSlots == 4)
      return run.left
    }
    let peak = runs[0].map(\.magnitude).max()!
    let error = zip(runs[0], runs[1]).map { abs($0 - $1) }.max()! / peak
    #expect(error <= 1e-6, "error \(error)")
  }

  @Test(
    "a take begins while filters follow the sound, which goes on in it; changes are refused, substitutions are not"
  )
  func take() throws {
    var scene = try Scene(period: 64)
    let ring = TakeRing(outputs: 2, capacityFrames: 16_000)
    var (take, end, change, substitution): (Ticket?, Ticket?, Ticket?, Ticket?)
    while scene.run.position + 64 <= 8000 {
      let position = scene.run.position
      if position % 128 == 0, !(4672..<4800 + 960).contains(position) {
        scene.deliver(position < 4800 ? 1 + position / 128 % 2 : 4, base: position < 4800 ? 0 : 3)
      }
      switch position {
      // In the midst of a fade of 128 frames.
      case 1600 + 64: take = try scene.engine.beginTake(into: ring)
      case 3200: change = try scene.engine.change(to: scene.sets[3], gain: 1)
      case 4800:
        substitution = try scene.engine.substitute(scene.sets[3], gain: 1)
        scene.fade(to: 3, over: 960)
      case 7040: end = try scene.engine.endTake()
      default: break
      }
      scene.process(64)
    }
    scene.check()
    let began = try #require(take)
    let expected: [Report] = [
      .takeBegan(began, frame: 1664), .refused(try #require(change), take: began),
      .substituted(try #require(substitution), frame: 4800, takeFrame: 4800 - 1664),
      .applied(try #require(substitution), frame: 5760),
      .takeEnded(try #require(end), take: began, frame: 7040),
    ]
    #expect(scene.engine.drainReports() == expected)
    #expect(ring.left == Array(scene.run.left[1664..<7040]))
  }

  @Test("a take waits for a change that waits for the fade of filters that follow the sound")
  func takeAfterChange() throws {
    var scene = try Scene(period: 64, total: 4096)
    let ring = TakeRing(outputs: 2, capacityFrames: 16_000)
    var tickets: [Ticket] = []
    while scene.run.position < 4096 {
      if scene.run.position == 640 { scene.deliver(1) }
      if scene.run.position == 704 {
        tickets.append(try scene.engine.change(to: scene.sets[2], gain: 1))
        tickets.append(try scene.engine.beginTake(into: ring))
      }
      if scene.run.position == 768 { scene.fade(to: 2, over: 960) }
      scene.process(64)
    }
    scene.check()
    #expect(
      scene.engine.drainReports() == [
        .applied(tickets[0], frame: 1728), .takeBegan(tickets[1], frame: 1728),
      ])
  }
}

extension TakeRing {
  /// The frames of left that wait.
  fileprivate var left: [Float] {
    var samples: [Float] = []
    var position = 0
    drain(position: &position, frames: { samples += Array($0) }, gap: { _ in })
    return stride(from: 0, to: samples.count, by: channels).map { samples[$0] }
  }
}
