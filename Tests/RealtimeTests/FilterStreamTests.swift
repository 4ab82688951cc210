import Foundation
import Realtime
import Synchronization
import TestSupport
import Testing

/// What passes between the callback and the worker that makes filters follow the sound.
@Suite("Filters' way to the callback", .serialized) struct FilterStreamTests {
  /// The Makefile sets PINNA_SEQUENCES to a smaller number for sanitizers.
  static let steps = min(
    100_000, ProcessInfo.processInfo.environment["PINNA_SEQUENCES"].flatMap(Int.init) ?? 100_000)

  static func engine(microphones: Int = 2, taps: Int = 64, rate: Double = 48000) throws -> (
    Engine, FilterStream
  ) {
    let engine = Engine(microphones: microphones, taps: taps, sampleRate: rate, adapts: true)
    return (engine, try #require(engine.stream))
  }

  @Test("an engine has a stream only where it was asked for")
  func onlyOnRequest() {
    #expect(Engine(microphones: 1, taps: 1, sampleRate: 48000).stream == nil)
  }

  @Test("the worker reads the microphones frame by frame, whatever the periods and the lengths of its reads")
  func readsTheMicrophones() throws {
    var noise = SeededNoise(seed: 4)
    let total = 60_000
    let signals = (0..<3).map { _ in noise.samples(total) }
    let (engine, stream) = try Self.engine(microphones: 3)
    engine.prepare(period: 64)
    var run = OfflineRun(engine, microphones: signals)
    for _ in 0..<10 { run.process(64) }
    #expect(stream.readAll().frames[0].isEmpty && stream.isCaughtUp && !stream.isTapped)
    stream.start()
    let start = run.position
    var read = [[Float]](repeating: [], count: 3)
    while run.position < total - 8192 {
      // Without a convolver for most of them: silent, but heard by the worker.
      run.process([16, 64, 100, 441, 1024, 4096, 8192].randomElement(using: &noise)!)
      #expect(!stream.isCaughtUp)
      repeat {
        let (frames, lost) = stream.readAll(atMost: Int.random(in: 1...2000, using: &noise))
        #expect(lost == 0)
        for m in 0..<3 { read[m] += frames[m] }
        stream.finished(frames: frames[0].count)
      } while !stream.isCaughtUp
    }
    for m in 0..<3 { #expect(differences(read[m], signals[m][start..<run.position]) == 0) }
    stream.stop()
    run.process(64)
    #expect(stream.readAll().frames[0].isEmpty && stream.isCaughtUp)
  }

  @Test(
    "a late worker reads all periods before a gap, then learns its length, then reads all periods after it")
  func gap() throws {
    let total = 80_000
    let ramp = (0..<total).map { Float($0 + 1) / Float(total) }
    let (engine, stream) = try Self.engine(microphones: 1)
    engine.prepare(period: 100)
    var run = OfflineRun(engine, microphones: [ramp])
    stream.start()
    var (read, gaps): ([Float], [(at: Int, frames: Int)]) = ([], [])
    func drain(atMost most: Int) {
      let (frames, lost) = stream.readAll(atMost: most)
      if lost > 0 { gaps.append((read.count, lost)) }
      read += frames[0]
    }
    // Room for 163 periods of 100 frames.
    for _ in 0..<200 { run.process(100) }
    #expect(stream.lostFrames == 0)
    // While the ring holds what came before the gap, nothing comes after it.
    drain(atMost: 10_000)
    for _ in 0..<10 { run.process(100) }
    drain(atMost: 10_000)
    #expect(gaps.isEmpty)
    for _ in 0..<10 { run.process(100) }
    drain(atMost: 150)
    drain(atMost: 10_000)
    #expect(gaps.map(\.at) == [16_300] && gaps.map(\.frames) == [4700])
    #expect(stream.lostFrames == 4700)
    #expect(differences(read, ramp[..<16_300] + ramp[21_000..<22_000]) == 0)
    // Who stops reading, and begins again later, is not told of a gap.
    stream.stop()
    run.process(100)
    stream.start()
    run.process(100)
    drain(atMost: 1000)
    #expect(gaps.count == 1 && differences(read.suffix(100), ramp[22_100..<22_200]) == 0)
  }

  @Test(
    "the worker hears what the engine hears: a microphone with invalid samples is silent, one without a port, too"
  )
  func hearsWhatTheEngineHears() throws {
    var noise = SeededNoise(seed: 5)
    var signals = (0..<2).map { _ in noise.samples(6400) }
    signals[1][3210] = .nan
    let (engine, stream) = try Self.engine()
    engine.prepare(period: 64)
    var run = OfflineRun(engine, microphones: signals)
    stream.start()
    while run.position < 6400 { run.process(64) }
    let (frames, _) = stream.readAll()
    #expect(differences(frames[0], signals[0]) == 0)
    #expect(differences(frames[1][..<3200], signals[1][..<3200]) == 0)
    #expect(frames[1][3210...].allSatisfy { $0 == 0 })
  }

  @Test(
    "through any sequence of deliveries, changes, takes, returns and periods no slot is lost, and no set for another base is heard"
  )
  func noSlotIsLost() throws {
    let rate = 8000.0
    let (engine, stream) = try Self.engine(microphones: 1, taps: 4, rate: rate)
    var noise = SeededNoise(seed: 6)
    // Base n sounds as n + 1, and its adapted filters as up to 0.5 more.
    func filters(_ level: Float) -> [[[Float]]] {
      [[[Float]]](repeating: [[Float](repeating: level / 4, count: 4)], count: 2)
    }
    let bases = (0..<3).map { FilterSet(coefficients: filters(Float($0 + 1))) }
    engine.start(with: bases[0])
    var period = 64
    engine.prepare(period: period)
    // More would take longer to build than to run.
    var run = OfflineRun(engine, microphones: [[Float](repeating: 1, count: 64)])
    run.process(64)
    run.discardOutput()
    var base: [Ticket: Int] = [:]
    var (current, isChanging, inTake, wrong, refused, applied, adapted) = (0, 0, false, 0, 0, 0, 0)
    for step in 0..<Self.steps {
      switch Int.random(in: 0..<1000, using: &noise) {
      case 0..<400:
        let n = Int.random(in: 0..<3, using: &noise)
        let level = Float(n + 1) + Float.random(in: 0...0.5, using: &noise)
        if !stream.deliver(base: bases[n], filters(level)) { refused += 1 }
      case 400..<420:
        let n = Int.random(in: 0..<3, using: &noise)
        if let ticket = try? engine.change(to: bases[n], gain: 1) {
          base[ticket] = n
          isChanging += 1
        }
      case 420..<425: stream.returnToBase()
      case 425..<430: stream.stop()
      case 430..<440: stream.start()
      case 440..<445:
        _ =
          inTake
          ? try? engine.endTake() : try? engine.beginTake(into: TakeRing(outputs: 1, capacityFrames: 64))
        inTake.toggle()
      case 445..<460:
        let next = [16, 48, 64, 100].randomElement(using: &noise)!
        engine.prepare(period: next)
        if Bool.random(using: &noise) { period = next }
      case 460..<600: _ = stream.readAll(atMost: 1000)
      default:
        run.append([[Float](repeating: 1, count: period)])
        let silent = engine.statistics.unpreparedPeriods
        run.process(period)
        if stream.isAdapted { adapted += 1 }
        if isChanging == 0, engine.statistics.unpreparedPeriods == silent {
          let range = Float(current + 1) - 1e-4...Float(current + 1) + 0.5 + 1e-4
          wrong += run.left.count { !range.contains($0) }
        }
        run.discardOutput()
      }
      if step % 7 == 0 {
        for report in engine.drainReports() {
          switch report {
          case .applied(let ticket, _):
            current = base[ticket]!
            applied += 1
            isChanging -= 1
          case .superseded(let ticket), .refused(let ticket, _): if base[ticket] != nil { isChanging -= 1 }
          default: break
          }
        }
      }
    }
    #expect(wrong == 0 && refused == 0, "\(wrong) frames, \(refused) deliveries")
    #expect(applied > Self.steps / 1000 && adapted > Self.steps / 100, "\(applied), \(adapted)")
    stream.stop()
    engine.prepare(period: 64)
    for _ in 0..<100 {
      run.append([[Float](repeating: 1, count: 64)])
      run.process(64)
    }
    #expect(stream.freeSlots == 4 && !stream.isAdapted)
  }

  /// A worker that makes filters of what it has read: the level of each hop.
  final class Worker: @unchecked Sendable {
    // Unchecked: one thread at a time uses it.
    static let hop = 128
    let stream: FilterStream
    let base: FilterSet
    private let hops: UnsafeMutablePointer<Float>
    private var filled = 0
    private var coefficients: [Float]

    init(_ stream: FilterStream, base: FilterSet) {
      self.stream = stream
      self.base = base
      hops = .allocate(capacity: stream.microphones * Self.hop)
      coefficients = [Float](repeating: 0, count: 2 * stream.microphones * stream.taps)
    }

    deinit { hops.deallocate() }

    /// Reads the frames that have come, and delivers filters.
    func work() {
      while true {
        let targets = (0..<stream.microphones).map { hops + $0 * Self.hop + filled }
        let read = stream.read(into: targets, atMost: Self.hop - filled).frames
        if read == 0 { return }
        filled += read
        if filled == Self.hop {
          filled = 0
          for n in coefficients.indices { coefficients[n] = hops[n % (stream.microphones * Self.hop)] / 64 }
          stream.deliver(base: base, coefficients: coefficients)
        }
        stream.finished(frames: read)
      }
    }
  }

  @Test(
    "with a callback that waits until the worker has caught up, a worker in its own thread is heard bit for bit as one between the periods",
    arguments: [64, 100, 1024])
  func freewheel(period: Int) throws {
    var noise = SeededNoise(seed: 7)
    let filters = noise.filters(microphones: 2, taps: 64)
    let signals = (0..<2).map { _ in noise.samples(96_000) }
    let outputs = try [false, true].map { isThreaded in
      let (engine, stream) = try Self.engine()
      let base = FilterSet(coefficients: filters)
      engine.start(with: base)
      engine.prepare(period: period)
      let worker = Worker(stream, base: base)
      stream.start()
      let stop = Atomic<Bool>(false)
      let threads = Threads()
      if isThreaded {
        threads.start("worker") {
          while !stop.load(ordering: .acquiring) {
            worker.work()
            sched_yield()
          }
        }
      }
      var run = OfflineRun(engine, microphones: signals)
      while run.position < 96_000 {
        if !isThreaded { worker.work() }
        while !engine.isAdaptationCaughtUp { sched_yield() }
        run.process(period)
      }
      stop.store(true, ordering: .releasing)
      threads.wait()
      #expect(stream.isAdapted && stream.lostFrames == 0)
      return run.left + run.right
    }
    #expect(differences(outputs[0], outputs[1]) == 0)
  }

  @Test(
    "with the worker, changes, takes and periods in threads of their own, every frame is a mix of sounds, without a step, and no slot is lost",
    .timeLimit(.minutes(10)))
  func threads() throws {
    let taps = 256
    @Sendable func coefficients(_ level: Float) -> [Float] {
      [Float](repeating: level / Float(2 * taps), count: 4 * taps)
    }
    func set(_ level: Float) -> FilterSet {
      FilterSet(
        coefficients: [[[Float]]](
          repeating: [[Float]](repeating: [Float](repeating: level / Float(2 * taps), count: taps), count: 2),
          count: 2))
    }
    let engine = Engine(microphones: 2, taps: taps, sampleRate: 48000, adapts: true)
    let stream = try #require(engine.stream)
    let bases = [set(0.2), set(0.4)]
    engine.start(with: bases[0])
    engine.prepare(period: 64)
    let callback = HandOverTests.Callback(engine)
    let inForce = Atomic<Int>(0)
    let isStopped = Atomic<Bool>(false)
    let delivered = Atomic<Int>(0)
    let threads = Threads()
    threads.start("callback") { callback.run() }
    threads.start("worker") {
      var noise = SeededNoise(seed: 8)
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: 2 * 256)
      defer { memory.deallocate() }
      var hops = 0
      stream.start()
      while !isStopped.load(ordering: .acquiring) {
        let read = [memory, memory + 256].withUnsafeBufferPointer {
          stream.read(into: $0.baseAddress!, atMost: 256).frames
        }
        stream.finished(frames: read)
        if read == 0 {
          sched_yield()
          continue
        }
        hops += 1
        switch hops % 500 {
        case 0:
          stream.stop()
          usleep(2000)
          stream.start()
        case 250: stream.returnToBase()
        // The worker stalls.
        case 400: usleep(5000)
        default:
          let base = bases[inForce.load(ordering: .relaxed)]
          if stream.deliver(
            base: base, coefficients: coefficients(Float.random(in: 0.1...0.9, using: &noise)))
          {
            delivered.wrappingAdd(1, ordering: .relaxed)
          }
        }
      }
      stream.stop()
    }
    var noise = SeededNoise(seed: 9)
    var applied = 0
    let end = ContinuousClock.now + .seconds(4)
    while .now < end {
      let n = Int.random(in: 0...1, using: &noise)
      inForce.store(n, ordering: .relaxed)
      _ = try? engine.change(to: bases[n], gain: 1)
      if Bool.random(using: &noise) {
        _ = try? engine.beginTake(into: TakeRing(outputs: 2, capacityFrames: 4096))
        usleep(1000)
        _ = try? engine.endTake()
      }
      if Int.random(in: 0..<4, using: &noise) == 0 {
        let next = [16, 64, 100, 256, 1024].randomElement(using: &noise)!
        engine.prepare(period: next)
        callback.period.store(next, ordering: .relaxed)
      }
      usleep(3000)
      for case .applied in engine.drainReports() { applied += 1 }
    }
    isStopped.store(true, ordering: .releasing)
    engine.prepare(period: 64)
    callback.period.store(64, ordering: .relaxed)
    usleep(300_000)
    _ = engine.drainReports()
    callback.stop.store(true, ordering: .releasing)
    threads.wait()
    #expect(stream.freeSlots == 4 && !stream.isAdapted)
    #expect(applied > 20 && delivered.load(ordering: .relaxed) > 100)
    var faults: [String] = []
    for period in callback.outputs where period.frame > 2 * taps && !period.isUnprepared {
      if period.range.lowerBound < 0.1 - 1e-5 || period.range.upperBound > 0.9 + 1e-5 {
        faults.append("\(period)")
      }
      // The steepest fade: 0.8 over 128 frames, raised cosine.
      let steepest = 0.8 * Float.pi / 2 / 128 * Float(period.count) + 1e-4
      if period.count <= 128, period.range.upperBound - period.range.lowerBound > steepest {
        faults.append("steep: \(period)")
      }
    }
    #expect(faults.isEmpty, "\(faults.prefix(5))")
  }
}
