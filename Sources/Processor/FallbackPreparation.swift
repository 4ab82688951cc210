import Acoustics
import Rendering

/// Filters without each single microphone, which are designed and stored one after another while nothing else happens: a
/// microphone that fails is then replaced at once, not after a design. Those that ship are only looked at.
///
/// Thread: control thread; a value.
struct FallbackPreparation {
  /// How long nothing happens before the first, and after anything that interrupted them.
  static let delay = Duration.seconds(10)
  static let limit = Duration.seconds(1800)

  /// Microphones without which filters are stored.
  private(set) var ready: Set<String> = []
  /// Microphones without which there are none.
  private var impossible: Set<String> = []
  private var job: (microphone: String, job: Job<Void>, deadline: ContinuousClock.Instant)?
  private var begin: ContinuousClock.Instant?
  private(set) var hasBegun = false
  var isRunning: Bool { job != nil }

  /// Something happens that needs the processor.
  mutating func pause() {
    job?.job.abandon()
    (job, begin) = (nil, nil)
  }

  /// - Parameter prepare: starts the job for one microphone.
  mutating func advance(
    _ microphones: [String], now: ContinuousClock.Instant, prepare: (String) -> Job<Void>
  ) {
    if let (microphone, job, deadline) = job {
      switch job.result {
      case .success: ready.insert(microphone)
      case .failure: impossible.insert(microphone)
      case nil where now > deadline:
        job.abandon()
        impossible.insert(microphone)
      case nil: return
      }
      self.job = nil
    }
    guard let next = microphones.first(where: { !ready.contains($0) && !impossible.contains($0) }) else {
      return
    }
    guard let begin, now >= begin else {
      begin = begin ?? now + Self.delay
      return
    }
    hasBegun = true
    job = (next, prepare(next), now + Self.limit)
  }
}

extension Processor {
  /// Prepares fallbacks while Pinna is live, and nothing is changed or missing. A take needs the processor more.
  func pollPreparation() {
    let device = wanted.device
    guard state.kind == .live, change == nil, let filters, device.microphones.count > 1, fallback.job == nil,
      fallback.watch.missing.isEmpty, fallback.chosen.isEmpty
    else { return fallback.preparation.pause() }
    // Two designs at a time take the memory of both.
    guard fallback.preparation.isRunning || !onDemand.nearby.isBusy else { return }
    fallback.preparation.advance(device.microphones.map(\.name), now: world.now) {
      world.prepareFallback(for: device, without: $0, sampleRate: filters.sampleRate)
    }
  }
}
