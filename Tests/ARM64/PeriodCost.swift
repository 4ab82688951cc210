import CGlibc
import Realtime
import TestSupport

/// Periods of one engine between two calls, at which `tools/arm64` begins and ends to count instructions.
struct PeriodCost {
  /// A multiple of the phases of every tail, and of two, since one pass over the filters may serve two periods.
  static let periods = 32

  /// - Parameter words: microphones, taps and period.
  func run(_ words: [Int]) {
    let (microphones, taps, frames) = (words[0], words[1], words[2])
    var noise = SeededNoise(seed: 1)
    let engine = Engine(
      microphones: microphones, taps: taps, sampleRate: 48000, caches: ProcessorCaches("/nowhere"))
    engine.start(with: FilterSet(coefficients: noise.filters(microphones: microphones, taps: taps)))
    engine.prepare(period: frames)
    let layout = engine.layout(period: frames)
    let inputs = (0..<microphones).map { _ in
      let buffer = UnsafeMutablePointer<Float>.allocate(capacity: frames)
      for n in 0..<frames { buffer[n] = noise.samples(1)[0] }
      return Optional(UnsafePointer(buffer))
    }
    let (left, right) = (
      UnsafeMutablePointer<Float>.allocate(capacity: frames),
      UnsafeMutablePointer<Float>.allocate(capacity: frames)
    )
    flushDenormalsToZero()
    var position = 0
    inputs.withUnsafeBufferPointer { inputs in
      func play(_ count: Int) {
        for _ in 0..<count {
          var timing = Timing()
          timing.frame = position
          engine.process(
            Period(frames: frames, inputs: inputs.baseAddress!, left: left, right: right, timing: timing))
          position += frames
        }
      }
      // Until every partition has its input.
      play((2 * taps / frames / Self.periods + 1) * Self.periods)
      countingBegins()
      play(Self.periods)
      countingEnds()
    }
    print("\(microphones)/\(taps)/\(frames) \(Self.periods) periods, \(layout.text)")
  }
}

// Each calls something else, so that they stay two functions.

@inline(never)
func countingBegins() { _ = getpid() }
@inline(never)
func countingEnds() { _ = getppid() }
