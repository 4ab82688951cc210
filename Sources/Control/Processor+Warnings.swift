import JackClient
import Realtime

extension Processor {
  /// Looks at connections and levels, and tells what is newly wrong.
  func watchInputs(_ readings: Readings) {
    let suspicions =
      wiringSuspicions(readings) + outputSuspicions + signalSuspicions(readings) + systemSuspicions(readings)
      + takeSuspicions
    for sentence in warnings.update(suspicions, now: world.now) { warn(sentence) }
  }

  private func wiringSuspicions(_ readings: Readings) -> [Warnings.Suspicion] {
    let lost = graph.lost.map {
      Warnings.Suspicion(sentence: "\($0.port) has lost \($0.peer)", patience: .zero, isTold: true)
    }
    let sources = graph.connections
    let open = readings.microphones.filter { sources[$0] == nil }
    guard !open.isEmpty else { return lost + patchedTwice(readings.microphones) }
    let sentence =
      open.count == readings.microphones.count
      ? "no microphone is connected" : "not connected: \(open.joined(separator: ", "))"
    return lost + patchedTwice(readings.microphones) + [.init(sentence: sentence, patience: .seconds(3))]
  }

  /// Microphones that are connected to the very same sources.
  private func patchedTwice(_ microphones: [String]) -> [Warnings.Suspicion] {
    let groups = Dictionary(grouping: microphones.filter { graph.connections[$0] != nil }) {
      graph.connections[$0]!
    }
    return groups.filter { $1.count > 1 }.map { sources, names -> Warnings.Suspicion in
      let both = names.count == 2 ? "both" : "all"
      return Warnings.Suspicion(
        sentence: "\(names.dropLast().joined(separator: ", ")) and \(names.last!) carry the same signal: "
          + "\(both) are connected to \(sources.sorted().joined(separator: ", "))", patience: .seconds(3))
    }.sorted { $0.sentence < $1.sentence }
  }

  /// Names that may be mistyped.
  private var outputSuspicions: [Warnings.Suspicion] {
    graph.missingTargets.map {
      .init(
        sentence:
          "there is no port \($0) for the outputs, which are connected to it when it comes; see: jack_lsp",
        patience: .seconds(3))
    }
  }

  /// What the meters give away. Patience outlasts the meters' peak hold of 1.5 s.
  private func signalSuspicions(_ readings: Readings) -> [Warnings.Suspicion] {
    let names = readings.microphones
    let levels = readings.levels
    let sources = graph.connections
    var found: [Warnings.Suspicion] = []
    for name in readings.mutedMicrophones {
      found.append(
        .init(
          sentence: "\(name) is muted: it sends invalid samples (NaN, infinity, or above +60 dBFS)",
          patience: .zero))
    }
    let isSounding = zip(names, levels).contains { $1.peak > 1e-3 }
    for (n, name) in names.enumerated() where isSounding && sources[name] != nil && levels[n].peak < 1e-6 {
      found.append(.init(sentence: "\(name) is silent while others are not", patience: .seconds(3)))
    }
    for (a, b) in alike.observe(names, levels, now: world.now) where sources[a] != sources[b] {
      found.append(
        .init(sentence: "\(a) and \(b) have carried the same signal for a minute", patience: .zero))
    }
    return found
  }

  private var takeSuspicions: [Warnings.Suspicion] {
    hanging.removeAll { !$0.isOpening }
    guard let take = state.take?.take else {
      guard !hanging.isEmpty else { return [] }
      return [
        .init(
          sentence: "the disk has not answered earlier requests for a take or a playback",
          patience: .zero)
      ]
    }
    if let fault = take.fault {
      return [.init(sentence: "nothing of the take reaches the disk any more: \(fault)", patience: .zero)]
    }
    if let loss = take.loss {
      return [.init(sentence: "\(loss); end the take with: pinna record stop", patience: .zero)]
    }
    let silent = take.unansweredFor
    if silent > .seconds(2) {
      return [
        .init(
          sentence: "the disk does not answer; the take's ring buffers up to 8 s",
          patience: .zero)
      ]
    }
    // A sentence for each step, so that each is told once.
    let steps = [(10, "10 seconds"), (60, "a minute"), (600, "10 minutes")]
    guard let seconds = take.secondsLeft, let step = steps.first(where: { seconds < $0.0 }) else { return [] }
    return [
      .init(sentence: "the disk has room for less than \(step.1) of this take", patience: .zero)
    ]
  }

  private func systemSuspicions(_ readings: Readings) -> [Warnings.Suspicion] {
    var found = readings.complaints.map { Warnings.Suspicion(sentence: $0, patience: .zero) }
    let hung = AbandonedJobs.count
    if hung > 0 {
      found.append(
        .init(
          sentence:
            "\(hung) thread\(hung == 1 ? " hangs" : "s hang") in calls to the disk or to JACK that do not return",
          patience: .seconds(3)))
    }
    guard readings.lacksRealtime else { return found }
    let sentence =
      "the system does not grant realtime scheduling, so that there may be dropouts; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return found + [.init(sentence: sentence, patience: .zero)]
  }
}
