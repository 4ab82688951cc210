import Acoustics
import Glibc
import Messages
import Processor
import Realtime
import Recording
import Rendering
import Settings
import Threads

/// The feeds besides `main`: their ports come and go.
extension JackAudioClient {
  func add(_ feed: FeedSetting) -> Job<Ticket> {
    worker.job { [self] in
      let used = try engine
      let names = feed.portNames
      try checkLoad(of: used, with: feed)
      let place = try array.addFeedPorts(names)
      do {
        let preRoll = try preRoll(outputs: names.count, frames: used.engine.preRoll.capacityFrames)
        guard
          let begun = try used.engine.beginFeed(outputs: names.count, firstOutput: place, preRoll: preRoll)
        else {
          throw Failure(
            .failed, "there are as many feeds as there can be, 16; remove one with: pinna feed remove")
        }
        used.feeds.withLock {
          $0[feed.name] = JackEngine.LiveFeed(
            number: begun.feed, firstOutput: place, outputs: names.count)
        }
        try used.adaptation?.check(feed, number: nil)
        return try send(feed, try filters(for: feed), follows: true)
      } catch {
        if let live = used.feeds.withLock({ $0.removeValue(forKey: feed.name) }) {
          _ = try? used.engine.endFeed(live.number)
        }
        try? array.removeFeedPorts(names)
        throw error
      }
    }
  }

  func remove(_ feed: FeedSetting) -> Job<Bool> {
    worker.job { [self] in
      var silent = feed
      silent.muted = true
      if (try? send(silent, try filters(for: feed), follows: false)) != nil {
        // A fade that is under way, one of filters that follow the sound, this one, and the periods that they begin and end in.
        usleep(useconds_t(65_000 + 4 * 1_000_000 * array.period / max(1, array.sampleRate)))
      }
      let used = try engine
      if let live = used.feeds.withLock({ $0[feed.name] }) {
        used.adaptation?.follow(nil, feed: live.number)
        _ = try used.engine.endFeed(live.number)
        used.feeds.withLock { $0[feed.name] = nil }
      }
      try array.removeFeedPorts(feed.portNames)
      return true
    }
  }

  /// - Throws: if the callback would take more than half of each period, so that nothing is left for crossfades and other
  ///   programs.
  private func checkLoad(of used: JackEngine, with feed: FeedSetting) throws(Failure) {
    let outputs = [feed.portNames.count] + used.feeds.withLock { $0 }.values.map(\.outputs)
    let predicted = used.engine.predictedMicroseconds(period: array.period, outputs: outputs)
    let limit = 1e6 * Double(array.period) / Double(max(1, array.sampleRate)) / 2
    guard predicted > limit else { return }
    throw Failure(
      .failed,
      "with the feed \(feed.name) the callback would take about "
        + String(
          format: "%.0f of the %.0f µs of each period, more than half; use a longer period, or remove a feed",
          predicted, 2 * limit))
  }

  /// A pre-roll for a feed, as long as main's, or less if that exceeds 256 MB; nil without pre-roll.
  private func preRoll(outputs: Int, frames: Int) throws(Failure) -> PreRoll? {
    guard frames > 0 else { return nil }
    do {
      return try PreRoll(
        outputs: outputs, microphones: 0,
        reservingFrames: min(frames, TakePlan.maximumFrames(channels: outputs)))
    } catch {
      throw Failure(.failed, "the feed cannot be added: not enough memory for its pre-roll (\(error))")
    }
  }
}
