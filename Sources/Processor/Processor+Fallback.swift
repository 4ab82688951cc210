import Acoustics
import Messages
import Realtime
import Rendering
import Settings

/// Microphones that fail and return, while the callback plays on.
extension Processor {
  /// Decides again which microphones are missing.
  func watchMicrophones(_ readings: Readings) {
    guard state.kind != .fadingOut, readings.levels.count >= readings.microphones.count, areMetersRunning
    else {
      return
    }
    let deviations = wanted.device.deviations
    let isKnown = graph.checkNumber > 0
    let names = readings.microphones
    let observations = names.enumerated().map { n, name in
      MicrophoneWatch.Observation(
        name: name,
        rms: readings.levels[n].rms / (n < deviations.count ? Float(abs(deviations[n].factor)) : 1),
        isMuted: readings.mutedMicrophones.contains(name),
        isConnected: !isKnown || graph.connections[name] != nil)
    }
    let before = fallback.watch.missing
    fallback.watch.observe(observations, hasWind: readings.hasWind, now: world.now)
    for (name, fault) in fallback.watch.missing.sorted(by: { $0.key < $1.key }) where before[name] == nil {
      notifyAndRecord(.microphoneGone, "\(name) is missing: \(fault.sentence)")
    }
    for name in before.keys.sorted() where fallback.watch.missing[name] == nil {
      notifyAndRecord(.microphoneBack, "\(name) is back")
    }
  }

  /// Whether a period has run since the last call. After 300 ms without an observation, all clocks of the watch begin
  /// again.
  private var areMetersRunning: Bool {
    let count = client?.periodsRun ?? 0
    if let last = fallback.lastPeriods {
      if world.now - last.instant > .milliseconds(300) { fallback.watch.forgetClocks() }
      if last.count == count { return false }
    }
    fallback.lastPeriods = (count, world.now)
    return true
  }

  /// The microphones that filters should do without now. With more than half missing, none do: no array is left.
  private var microphonesToReplace: Set<String> {
    let missing = Set(fallback.watch.missing.keys)
    let count = wanted.device.microphones.count
    return 2 * missing.count <= count ? missing : []
  }

  /// Gets filters without the missing microphones, and has the callback fade to them; back to those of all microphones
  /// when they have returned.
  func pollFallback() {
    pollPreparation()
    guard state.isInGraph, state.kind != .fadingOut, state.kind != .stopping else { return }
    let missing = microphonesToReplace
    // A design goes on while its microphones work for a moment: they may fail again.
    if let job = fallback.job, job.missing != missing, !missing.isEmpty {
      job.job.abandon()
      fallback.job = nil
    }
    if let failure = fallback.failure, failure.missing != missing { fallback.failure = nil }
    // What has returned is used again at once.
    if !fallback.chosen.isSubset(of: missing), let filters,
      onDemandCases(areReadyWithout: [], filters.sampleRate)
    {
      choose(nil, without: [])
    }
    if missing == fallback.chosen || missing == fallback.failure?.missing {
      // Nothing is needed. A design that has ended is in the cache.
      if let (_, job, deadline) = fallback.job, job.result != nil || hasPassed(deadline) {
        job.abandon()
        fallback.job = nil
      }
    } else if let (_, job, deadline) = fallback.job {
      switch job.result {
      case .success(let filters):
        guard onDemandCases(areReadyWithout: missing, filters.sampleRate) || hasPassed(deadline) else {
          break
        }
        fallback.job = nil
        choose(filters, without: missing)
      case .failure(let failure): failFallback(without: missing, failure.description)
      case nil where hasPassed(deadline):
        job.abandon()
        failFallback(without: missing, "their design took longer than 10 minutes")
      case nil: break
      }
    } else if let filters {
      let job = world.fallback(for: wanted.device, without: missing, sampleRate: filters.sampleRate)
      fallback.job = (missing, job, world.now + .seconds(600))
      fallback.toldOfDesign = false
    }
    tellOfDesign()
    postSubstitution()
  }

  /// Whether the looks and the B-format in use have filters without the missing microphones, too, as far as there can be
  /// any: all feeds change to them together.
  private func onDemandCases(areReadyWithout missing: Set<String>, _ sampleRate: Int) -> Bool {
    var areReady = true
    // What follows a pose has none until there are filters for it.
    let still = wanted.feeds.map(\.selection).map {
      $0.following(nil, on: wanted.device)
    }
    let keys = still.flatMap {
      FilterChoice.keys(for: $0, of: wanted.device, sampleRate: sampleRate, without: missing)
    }
    for key in keys {
      if onDemand.choice.contains(key) || onDemand.failures[key] != nil { continue }
      design(key)
      areReady = areReady && onDemand.failures[key] != nil
    }
    return areReady
  }

  /// Says once that filters are being designed: shipped or cached ones need no line.
  private func tellOfDesign() {
    guard let job = fallback.job, job.job.progress != nil, !fallback.toldOfDesign else { return }
    fallback.toldOfDesign = true
    warn("filters without \(job.missing.sorted().joined(separator: ", ")) are being designed")
  }

  private func failFallback(without missing: Set<String>, _ reason: String) {
    fallback.job = nil
    fallback.failure = (missing, reason)
    warn("there are no filters without \(missing.sorted().joined(separator: ", ")): \(reason)")
  }

  /// Every change from now on uses `filters`; nil for those of all microphones.
  private func choose(_ filters: FilterSets?, without missing: Set<String>) {
    onDemand.choice.use(filters, without: missing)
    for (_, selection) in following { turn(selection, of: wanted.device) }
    client?.use(onDemand.choice)
    fallback.chosen = missing
    fallback.remarks = filters?.bank.weaknesses ?? []
    fallback.failure = nil
  }

  /// Changes carry the chosen filters, so a substitution is needed only while none is under way. It must not overtake
  /// one, whose request would be told that it was superseded.
  private func postSubstitution() {
    guard fallback.inForce != fallback.chosen, !isChangingMain,
      !machines.values.contains(where: \.isSubstituting)
    else { return }
    substitute(wanted.feeds.map(\.name), isFallback: true)
  }

  /// Says that main's filters do without other microphones from now on.
  func fallbackBegan(at frame: Int, without missing: Set<String>) {
    fallback.began(at: frame, without: missing)
    let names = missing.sorted()
    let causes = names.map { name in
      fallback.watch.missing[name].map { "\(name) is missing: \($0.sentence)" } ?? "\(name) was missing"
    }
    warn(
      names.isEmpty
        ? "filters for all microphones are in force again"
        : causes.joined(separator: "; ")
          + "; filters without \(names.count == 1 ? "it" : "them") are in force"
          + (fallback.remark(on: wanted.main.selection).map { "; \($0)" } ?? "") + remarkOnOthers)
  }

  /// The feeds for which there are no filters without the missing microphones, as the end of a sentence.
  private var remarkOnOthers: String {
    let names = wanted.others.filter { feed in
      guard !fallback.chosen.isEmpty, let filters else { return false }
      let keys = FilterChoice.keys(
        for: onDemand.choice.played(feed.selection), of: wanted.device, sampleRate: filters.sampleRate,
        without: fallback.chosen)
      return keys.contains { onDemand.failures[$0] != nil }
    }.map(\.name)
    return names.isEmpty ? "" : "; wrong until all microphones are back: \(names.joined(separator: ", "))"
  }

  /// Lists in the sidecar what was in force when a take began, pre-roll included.
  /// - Parameter frame: the engine's frame with which the take began after its pre-roll.
  func noteFallback(in take: any TakeRecording, from frame: Int) {
    for (frame, missing) in fallback.history(from: frame - take.preRollFrames) {
      for feed in wanted.feeds {
        take.addFallback(frame: frame, without: missing.sorted(), feed: feed.name)
      }
    }
  }

  /// Another engine runs from now on: nothing is known about its microphones, and it has no feeds yet.
  func resetEngine() {
    for name in machines.keys { machines[name]?.reset() }
    onDemand.reset()
    tracking.forgetTalkers()
    onDemand.choice.use(nil, without: [])
    onDemand.choice.forgetTurned()
    client?.use(onDemand.choice)
    fallback.job?.job.abandon()
    fallback.preparation.pause()
    for name in fallback.watch.missing.keys.sorted() {
      notify(.microphoneBack, "\(name) is no longer known to be missing: what it belongs to has changed")
    }
    fallback = Fallback()
  }
}
