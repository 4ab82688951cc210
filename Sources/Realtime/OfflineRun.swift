/// Runs an engine over signals in memory, period by period, on the calling thread. It does what the process callback
/// does, without a server.
///
/// One thread at a time uses a run. That thread takes the callback's place, and treats denormals as zero from then on
/// (`flushDenormalsToZero`).
public struct OfflineRun {
  public let engine: Engine
  private let firstFrame: Int
  /// Frames processed so far.
  public private(set) var position = 0
  public private(set) var left: [Float] = []
  public private(set) var right: [Float] = []
  /// Outputs of the feeds other than `main`, by their places in `Period.feeds`.
  public private(set) var feeds: [[Float]]
  /// Called after each period, as a worker beside the callback would have its turn.
  public var afterPeriod: () -> Void = {}
  /// Signals that are not processed yet, and the position of their first frame.
  private var microphones: [[Float]]
  private var inputStart = 0

  /// Thread: the caller's, in place of JACK's realtime thread.
  /// - Parameters:
  ///   - microphones: shape `[microphone][frame]`. Silence follows their end.
  ///   - firstFrame: time of their first frame on the stream's clock.
  ///   - feedOutputs: how many outputs all feeds but `main` have.
  public init(_ engine: Engine, microphones: [[Float]], firstFrame: Int = 0, feedOutputs: Int = 0) {
    precondition(microphones.count == engine.microphones)
    self.engine = engine
    self.firstFrame = firstFrame
    self.microphones = microphones
    feeds = [[Float]](repeating: [], count: feedOutputs)
    flushDenormalsToZero()
  }

  /// Appends signals to those given so far, and forgets those that are processed. Silence must not have begun.
  /// - Parameter block: shape `[microphone][frame]`.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func append(_ block: [[Float]]) {
    for m in microphones.indices {
      microphones[m].removeFirst(position - inputStart)
      microphones[m].append(contentsOf: block[m])
    }
    inputStart = position
  }

  /// Processes one period of `frames`. The engine must be prepared for it. `timing.frame` is replaced by the run's
  /// position.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func process(_ frames: Int, timing: Timing = Timing()) {
    var timing = timing
    timing.frame = firstFrame + position
    let count = microphones.count
    let start = position - inputStart
    var inputs = [Float](repeating: 0, count: count * frames)
    for (m, samples) in microphones.enumerated() {
      for n in 0..<max(0, min(frames, samples.count - start)) { inputs[m * frames + n] = samples[start + n] }
    }
    var outputs = [Float](repeating: 0, count: (2 + feeds.count) * frames)
    inputs.withUnsafeBufferPointer { input in
      let pointers = (0..<count).map { Optional(input.baseAddress! + $0 * frames) }
      outputs.withUnsafeMutableBufferPointer { output in
        let left = output.baseAddress!
        let others = feeds.indices.map { Optional(left + (2 + $0) * frames) }
        pointers.withUnsafeBufferPointer { inputs in
          others.withUnsafeBufferPointer { others in
            let period = Period(
              frames: frames, inputs: inputs.baseAddress!, left: left, right: left + frames,
              feeds: others.baseAddress, timing: timing)
            RealtimeContext.run { engine.process(period) }
          }
        }
      }
    }
    left.append(contentsOf: outputs[..<frames])
    right.append(contentsOf: outputs[frames..<2 * frames])
    for n in feeds.indices { feeds[n].append(contentsOf: outputs[(2 + n) * frames..<(3 + n) * frames]) }
    position += frames
    afterPeriod()
  }

  /// Discards the output so far.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func discardOutput() {
    left = []
    right = []
    for n in feeds.indices { feeds[n] = [] }
  }

  /// Processes periods of `frames` as far as they are over at `end`.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func run(wholePeriodsTo end: Int, period frames: Int) {
    engine.prepare(period: frames)
    while position + frames <= end { process(frames) }
  }

  /// Processes periods of `frames` and a shorter one, until exactly `end` frames are done.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func run(to end: Int, period frames: Int) {
    run(wholePeriodsTo: end, period: frames)
    guard position < end else { return }
    let rest = end - position
    engine.prepare(period: rest)
    process(rest)
  }

  /// Processes periods of `frames` until `total` frames are done. Discards excess output of the last period.
  ///
  /// Thread: the caller's, in place of JACK's realtime thread.
  public mutating func run(total: Int, period frames: Int) {
    engine.prepare(period: frames)
    while position < total { process(frames) }
    let excess = min(left.count, position - total)
    left.removeLast(excess)
    right.removeLast(excess)
    for n in feeds.indices { feeds[n].removeLast(excess) }
  }
}
