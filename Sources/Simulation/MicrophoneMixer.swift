import Acoustics
import Dispatch
import Synchronization

/// Accumulates the signals of a scene's microphones, wave by wave. All microphones are computed in parallel.
final class MicrophoneMixer {
  /// Of the microphones, in metres: those of a measured array are where its measurement has them.
  private let positions: [Position]
  /// Their capsules, whose directivity `body` does not have; nil for omnidirectional ones.
  private let capsules: [Capsule?]
  private let rate: Int
  private let body: Diffraction?
  private var leadingTaps: Int { body?.leadingTaps ?? 0 }
  private var taps: Int { body?.taps ?? 1 }
  /// Shape `[microphone][frame]`.
  private(set) var signals: [[Float]]
  /// Called with the fraction of `work` that is done, 0…1, from any thread.
  var progress: (@Sendable (Double) -> Void)?
  /// Of all waves at all microphones; see `Wave.work`.
  var work = 1.0
  private let done = Total()

  init(device: Device, rate: Int, count: Int, body: Diffraction?) {
    positions = body?.positions ?? device.microphones.map(\.position)
    capsules = device.microphones.map(\.capsule)
    self.rate = rate
    self.body = body
    signals = [[Float]](repeating: [Float](repeating: 0, count: count), count: device.microphones.count)
  }

  /// Adds waves whose talkers do not move.
  func addStationary(_ waves: [Wave]) {
    let places = waves.map { $0.place(at: 0) }
    let directions = Array(Set(places.map(\.direction)))
    let responses = body?.responses(from: directions)
    let indices = Dictionary(uniqueKeysWithValues: directions.enumerated().map { ($1, $0) })
    let (rate, leadingTaps, taps, capsules) = (rate, leadingTaps, taps, capsules)
    let report = report
    forEachMicrophone { m, position, sum in
      for (wave, place) in zip(waves, places) {
        defer { report(wave.work) }
        let frames = wave.frames(rate: rate, tail: taps, count: sum.count)
        guard !frames.isEmpty else { continue }
        let arrival = wave.talker.start + (place.distance ?? 0) / speedOfSound
        let field = PlaneWave(signal: wave.talker.voice, from: place.direction).heard(
          at: position, rate: rate, count: frames.count + taps - 1,
          start: Double(frames.lowerBound + leadingTaps - taps + 1) / Double(rate) - arrival)
        let filtered =
          responses.map { BlockConvolution.valid(field, $0[indices[place.direction]!][m]) } ?? field
        let sensitivity = capsules[m]?.sensitivity(from: place.direction.vector) ?? 1
        let gain = Float(wave.gain(from: place) * sensitivity)
        for (n, value) in zip(frames, filtered) { sum[n] += gain * value }
      }
    }
  }

  /// Adds a wave whose talker moves. The propagation delay to each microphone is updated every frame. The body's
  /// impulse responses are computed at knots along the path and cross-faded between them.
  func addMoving(_ wave: Wave) {
    let frames = wave.frames(rate: rate, tail: taps, count: signals.first?.count ?? 0)
    guard !frames.isEmpty else { return }
    let moving = MovingWave(
      wave, rate: rate, start: Double(frames.lowerBound + leadingTaps - taps + 1) / Double(rate),
      count: frames.count + taps - 1)
    let knots = moving.knots()
    let responses = body?.responses(from: knots.map { moving.directions[$0] })
    let (rate, leadingTaps, taps, capsules) = (rate, leadingTaps, taps, capsules)
    let report = report
    forEachMicrophone { m, position, sum in
      defer { report(wave.work) }
      let field = moving.heard(wave.talker.voice, at: position, by: capsules[m], rate: rate)
      guard let responses else {
        for (n, value) in zip(frames, field) { sum[n] += value }
        return
      }
      // Index in `field` of the time of output frame 0.
      let origin = taps - 1 - leadingTaps
      for j in knots.indices {
        let (before, at, after) = (knots[max(0, j - 1)], knots[j], knots[min(knots.count - 1, j + 1)])
        let (first, last) = (max(0, before - origin), min(frames.count - 1, after - origin))
        guard first <= last else { continue }
        let filtered = BlockConvolution.valid(Array(field[first..<last + taps]), responses[j][m])
        for n in first...last {
          let index = n + origin
          let weight =
            index == at
            ? 1
            : index < at
              ? Float(index - before) / Float(at - before) : Float(after - index) / Float(after - at)
          sum[frames.lowerBound + n] += weight * filtered[n - first]
        }
      }
    }
  }

  /// Tells `progress` of more work that is done.
  private var report: @Sendable (Double) -> Void {
    guard let progress else { return { _ in } }
    let total = max(work, 1e-9)
    return { [done] part in
      progress(
        done.seconds.withLock { done in
          done += part
          return min(1, done / total)
        })
    }
  }

  /// Calls `body` for all microphones in parallel. `body` adds to the signal of its microphone.
  private func forEachMicrophone(
    _ body: @Sendable (_ microphone: Int, _ position: Position, _ signal: inout [Float]) -> Void
  ) {
    let positions = positions
    let shared = Mutex(signals)
    DispatchQueue.concurrentPerform(iterations: positions.count) { m in
      // The signal is moved out so that adding to it does not copy it.
      var signal = shared.withLock { signals in
        defer { signals[m] = [] }
        return signals[m]
      }
      body(m, positions[m], &signal)
      shared.withLock { [signal] in $0[m] = signal }
    }
    signals = shared.withLock { $0 }
  }
}

/// A sum that several threads add to.
private final class Total: Sendable {
  let seconds = Mutex(0.0)
}
