import CFiles
import Foundation
import Realtime

/// Measures one configuration of the engine at 48 kHz: the time of steady periods, and of periods during a crossfade.
/// All times are in microseconds.
final class EngineTimes {
  let shape: Partitioning
  let instructionSet: InstructionSet
  private(set) var steadyTimes: [Double] = []
  private(set) var fadingTimes: [Double] = []
  /// Mean CPU time of a steady period. Unlike elapsed time, it does not include other programs.
  private(set) var processorMean = 0.0
  /// Lowest time of each of the periods over which the convolver spreads the work of a long filter.
  private(set) var phases: [Double]
  let engine: Engine
  private let sets: [FilterSet]
  private var playing = 0
  private var count = 0
  /// Memory of the engine and one filter set, in 10^6 bytes.
  let megabytes: Double
  private let source: UnsafeMutablePointer<Float>
  private let inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let outputs: UnsafeMutablePointer<Float>
  static let sampleRate = 48000.0
  /// Shortest time between two readings of the clock, in nanoseconds. It is subtracted from each period's time.
  private lazy var clockCost = (0..<1000).reduce(Int.max) { lowest, _ in
    let start = nanoseconds()
    return min(lowest, nanoseconds() - start)
  }

  /// - Parameters:
  ///   - otherPeriod: the longest of other periods that `timeOnePeriod` is asked for.
  ///   - caches: those for which the engine chooses its layout.
  ///   - layout: which of its possible layouts; nil for the one that it chooses.
  ///   - adapts: whether its filters can follow the sound.
  init(
    _ shape: Partitioning, _ instructionSet: InstructionSet, otherPeriod: Int = 0,
    caches: ProcessorCaches = .current,
    layout: Int? = nil, adapts: Bool = false
  ) {
    self.shape = shape
    self.instructionSet = instructionSet
    let before = Self.bytesInUse()
    engine = Engine(
      microphones: shape.microphones, taps: shape.taps, sampleRate: Self.sampleRate,
      instructionSet: instructionSet, caches: caches, adapts: adapts)
    if let layout { engine.layoutOverride = engine.layouts(period: shape.period)[layout] }
    var noise = SystemRandomNumberGenerator()
    func filters() -> FilterSet {
      FilterSet(
        coefficients: (0..<2).map { _ in
          (0..<shape.microphones).map { _ in
            (0..<shape.taps).map { _ in Float.random(in: -1e-3...1e-3, using: &noise) }
          }
        })
    }
    let first = filters()
    engine.start(with: first)
    engine.prepare(period: shape.period)
    megabytes = Double(Self.bytesInUse() - before) / 1e6
    sets = [first, filters()]
    phases = [Double](repeating: .infinity, count: max(8, engine.layout(period: shape.period).block))
    let frames = max(shape.period, otherPeriod)
    source = .allocate(capacity: shape.microphones * frames)
    for n in 0..<shape.microphones * frames { source[n] = Float.random(in: -0.5...0.5, using: &noise) }
    inputs = .allocate(capacity: shape.microphones)
    for m in 0..<shape.microphones { inputs[m] = UnsafePointer(source + m * frames) }
    outputs = .allocate(capacity: 2 * frames)
    outputs.initialize(repeating: 0, count: 2 * frames)
  }

  private static func bytesInUse() -> Int {
    Int(pinna_bytes_in_use()) + AlignedMemory.mappedBytesInUse.load(ordering: .relaxed)
  }

  deinit {
    source.deallocate()
    inputs.deallocate()
    outputs.deallocate()
  }

  /// The set that plays.
  var playingSet: FilterSet { sets[playing] }

  var deadline: Double { 1e6 * Double(shape.period) / Self.sampleRate }
  var steady: Percentiles { Percentiles(steadyTimes) }
  var fading: Percentiles { Percentiles(fadingTimes) }
  /// Ratio of the longest to the mean of `phases`.
  var unevenness: Double { phases.max()! / meanOfPhases }

  /// Processes one period.
  /// - Parameter frames: its length; nil for the shape's.
  /// - Returns: the time that it took, in microseconds.
  func timeOnePeriod(frames: Int? = nil) -> Double {
    let frames = frames ?? shape.period
    let period = Period(
      frames: frames, inputs: UnsafePointer(inputs), left: outputs, right: outputs + frames)
    let start = nanoseconds()
    engine.process(period)
    let time = Double(nanoseconds() - start - clockCost) / 1000
    count += 1
    return time
  }

  /// The time that something else takes, in microseconds.
  func time(_ body: () -> Void) -> Double {
    let start = nanoseconds()
    body()
    return Double(nanoseconds() - start - clockCost) / 1000
  }

  /// Mean of the lowest times of the phases.
  var meanOfPhases: Double { phases.reduce(0, +) / Double(phases.count) }

  /// Measures `periods` more steady periods.
  func measureSteady(periods: Int) {
    for _ in 0..<min(200, periods) { _ = timeOnePeriod() }
    for _ in 0..<periods {
      let phase = count % phases.count
      let time = timeOnePeriod()
      phases[phase] = min(phases[phase], time)
      steadyTimes.append(time)
    }
  }

  /// Measures `periods` more steady periods, and a quarter as many during crossfades.
  func measure(periods: Int) {
    let before = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    measureSteady(periods: periods)
    processorMean =
      Double(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before) / 1000 / Double(periods + min(200, periods))
    let targetCount = fadingTimes.count + periods / 4
    while fadingTimes.count < targetCount {
      playing = 1 - playing
      // A refused change never produces a report, so waiting for one would not end.
      guard (try? engine.change(to: sets[playing], gain: 1)) != nil else { return }
      var times: [Double] = []
      while engine.drainReports().isEmpty { times.append(timeOnePeriod()) }
      // A long filter is prepared first. The crossfade comes last; only whole periods within it count.
      let frames = Crossfade.frames(sampleRate: Self.sampleRate)
      let fade = times.suffix((frames + shape.period - 1) / shape.period)
      fadingTimes += fade.prefix(max(1, frames / shape.period))
    }
  }

  private func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
