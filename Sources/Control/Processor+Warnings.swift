import JackClient
import Realtime

extension Processor {
  /// Looks at connections and levels, and tells what is newly wrong.
  func watchInputs(_ readings: Readings) {
    let suspicions =
      wiringSuspicions(readings) + signalSuspicions(readings) + systemSuspicions(readings) + takeSuspicions
    for sentence in warnings.update(suspicions, now: world.now) { warn(sentence) }
  }

  private func wiringSuspicions(_ readings: Readings) -> [Warnings.Suspicion] {
    let lost = graph.lost.map {
      Warnings.Suspicion(sentence: "\($0.port) has lost \($0.peer)", patience: .zero, isTold: true)
    }
    let connected = graph.connectedPorts
    let open = readings.microphones.filter { !connected.contains($0) }
    guard !open.isEmpty else { return lost }
    let sentence =
      open.count == readings.microphones.count
      ? "no microphone is connected" : "not connected: \(open.joined(separator: ", "))"
    return lost + [.init(sentence: sentence, patience: .seconds(3))]
  }

  /// What the meters give away. Patience outlasts the meters' peak hold of 1.5 s.
  private func signalSuspicions(_ readings: Readings) -> [Warnings.Suspicion] {
    let names = readings.microphones
    let levels = readings.levels
    let connected = graph.connectedPorts
    var found: [Warnings.Suspicion] = []
    for name in readings.mutedMicrophones {
      found.append(
        .init(
          sentence: "\(name) is muted: it sends invalid samples (NaN, infinity, or above +60 dBFS)",
          patience: .zero))
    }
    let isSounding = zip(names, levels).contains { $1.peak > 1e-3 }
    for (n, name) in names.enumerated() where isSounding && connected.contains(name) && levels[n].peak < 1e-6
    {
      found.append(.init(sentence: "\(name) is silent while others are not", patience: .seconds(3)))
    }
    for (a, b) in names.indices.flatMap({ a in names.indices.dropFirst(a + 1).map { (a, $0) } })
    where levels[a] == levels[b] && levels[a].rms > 1e-6 {
      found.append(
        .init(sentence: "\(names[a]) and \(names[b]) carry the same signal", patience: .seconds(2)))
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
    if AbandonedJobs.count > 0 {
      found.append(
        .init(
          sentence: "\(AbandonedJobs.count) threads hang in calls to the disk or to JACK that do not return",
          patience: .seconds(3)))
    }
    guard readings.lacksRealtime else { return found }
    let sentence =
      "the system does not grant realtime scheduling, so that there may be dropouts; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return found + [.init(sentence: sentence, patience: .zero)]
  }
}
