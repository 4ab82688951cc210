import Acoustics
import Dispatch
import Synchronization

/// The microphones of a scene, and what they have heard so far. They work side by side, wave after wave.
final class Listeners {
  private let device: Device
  private let rate: Int
  private let body: Diffraction?
  private var early: Int { body?.early ?? 0 }
  private var taps: Int { body?.taps ?? 1 }
  /// Shape `[microphone][frame]`.
  private(set) var signals: [[Float]]

  init(device: Device, rate: Int, count: Int, body: Diffraction?) {
    self.device = device
    self.rate = rate
    self.body = body
    signals = [[Float]](repeating: [Float](repeating: 0, count: count), count: device.microphones.count)
  }

  /// Waves whose talkers stand still.
  func hear(still waves: [Wave]) {
    let places = waves.map { $0.place(at: 0) }
    let directions = Array(Set(places.map(\.direction)))
    let responses = body?.responses(from: directions)
    let numbers = Dictionary(uniqueKeysWithValues: directions.enumerated().map { ($1, $0) })
    let (rate, early, taps) = (rate, early, taps)
    hear { m, position, sum in
      for (wave, place) in zip(waves, places) {
        let frames = wave.frames(rate: rate, tail: taps, count: sum.count)
        guard !frames.isEmpty else { continue }
        let arrival = wave.talker.start + (place.distance ?? 0) / speedOfSound
        let field = PlaneWave(signal: wave.talker.voice, from: place.direction).heard(
          at: position, rate: rate, count: frames.count + taps - 1,
          start: Double(frames.lowerBound + early - taps + 1) / Double(rate) - arrival)
        let heard =
          responses.map { BlockConvolution.valid(field, $0[numbers[place.direction]!][m]) } ?? field
        let gain = Float(wave.gain(from: place))
        for (n, value) in zip(frames, heard) { sum[n] += gain * value }
      }
    }
  }

  /// A wave whose talker moves: the way to each microphone changes from frame to frame, and what the body does is
  /// cross-faded from direction to direction.
  func hear(moving wave: Wave) {
    let frames = wave.frames(rate: rate, tail: taps, count: signals.first?.count ?? 0)
    guard !frames.isEmpty else { return }
    let moving = MovingWave(
      wave, rate: rate, start: Double(frames.lowerBound + early - taps + 1) / Double(rate),
      count: frames.count + taps - 1)
    let knots = moving.knots()
    let responses = body?.responses(from: knots.map { moving.directions[$0] })
    let (rate, early, taps) = (rate, early, taps)
    hear { m, position, sum in
      let field = moving.heard(wave.talker.voice, at: position, rate: rate)
      guard let responses else {
        for (n, value) in zip(frames, field) { sum[n] += value }
        return
      }
      // Where in the field the wave stands that is just passing.
      let now = taps - 1 - early
      for j in knots.indices {
        let (before, at, after) = (knots[max(0, j - 1)], knots[j], knots[min(knots.count - 1, j + 1)])
        let (first, last) = (max(0, before - now), min(frames.count - 1, after - now))
        guard first <= last else { continue }
        let heard = BlockConvolution.valid(Array(field[first..<last + taps]), responses[j][m])
        for n in first...last {
          let place = n + now
          let weight =
            place == at
            ? 1
            : place < at
              ? Float(place - before) / Float(at - before) : Float(after - place) / Float(after - at)
          sum[frames.lowerBound + n] += weight * heard[n - first]
        }
      }
    }
  }

  /// `listen` adds to what the microphone at a position has heard; all microphones at the same time.
  private func hear(_ listen: @Sendable (Int, Position, inout [Float]) -> Void) {
    let microphones = device.microphones
    let heard = Mutex(signals)
    DispatchQueue.concurrentPerform(iterations: microphones.count) { m in
      var sum = heard.withLock { lists in
        defer { lists[m] = [] }
        return lists[m]
      }
      listen(m, microphones[m].position, &sum)
      heard.withLock { [sum] in $0[m] = sum }
    }
    signals = heard.withLock { $0 }
  }
}
