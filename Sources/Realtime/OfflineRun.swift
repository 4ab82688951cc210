/// Drives an engine over signals in memory, period by period, on the calling thread: what the process callback
/// does, without a server.
public struct OfflineRun {
  public let engine: Engine
  private let firstFrame: Int
  /// Frames processed so far.
  public private(set) var position = 0
  public private(set) var left: [Float] = []
  public private(set) var right: [Float] = []
  private let microphones: [[Float]]

  /// - Parameters:
  ///   - microphones: Shape `[microphone][frame]`; past their end there is silence.
  ///   - firstFrame: where the stream's clock stands at their beginning.
  public init(_ engine: Engine, microphones: [[Float]], firstFrame: Int = 0) {
    precondition(microphones.count == engine.microphones)
    self.engine = engine
    self.firstFrame = firstFrame
    self.microphones = microphones
    flushDenormalsToZero()
  }

  /// One period of `frames`. The engine must have been prepared for it. Its `timing.frame` is this run's.
  public mutating func process(_ frames: Int, timing: Timing = Timing()) {
    var timing = timing
    timing.frame = firstFrame + position
    let count = microphones.count
    let start = position
    var inputs = [Float](repeating: 0, count: count * frames)
    for (m, samples) in microphones.enumerated() {
      for n in 0..<max(0, min(frames, samples.count - start)) { inputs[m * frames + n] = samples[start + n] }
    }
    var outputs = [Float](repeating: 0, count: 2 * frames)
    inputs.withUnsafeBufferPointer { input in
      let pointers = (0..<count).map { Optional(input.baseAddress! + $0 * frames) }
      outputs.withUnsafeMutableBufferPointer { output in
        pointers.withUnsafeBufferPointer {
          let period = Period(
            frames: frames, inputs: $0.baseAddress!, left: output.baseAddress!,
            right: output.baseAddress! + frames, timing: timing)
          RealtimeContext.run { engine.process(period) }
        }
      }
    }
    left.append(contentsOf: outputs[..<frames])
    right.append(contentsOf: outputs[frames...])
    position += frames
  }

  /// Drops what has come out so far.
  public mutating func forget() {
    left = []
    right = []
  }

  /// Periods of `frames` until `total` frames are done; what the last one holds beyond is dropped.
  public mutating func run(total: Int, period frames: Int) {
    engine.prepare(period: frames)
    while position < total { process(frames) }
    left.removeLast(left.count - total)
    right.removeLast(right.count - total)
  }
}
