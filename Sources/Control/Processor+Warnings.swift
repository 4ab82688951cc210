import Realtime

extension Processor {
  /// Looks at connections and levels, and tells what is newly wrong.
  func watchInputs() {
    guard rejoin == nil else {
      _ = warnings.update([], now: .now)
      return
    }
    let suspicions = wiringSuspicions + signalSuspicions + systemSuspicions + takeSuspicions
    for sentence in warnings.update(suspicions, now: .now) { warn(sentence) }
  }

  private var wiringSuspicions: [Warnings.Suspicion] {
    let lost = wiring.lost.map {
      Warnings.Suspicion(sentence: "\($0.port) has lost \($0.peer)", patience: .zero, isTold: true)
    }
    let connected = wiring.connectedPorts
    let open = sets.bank.microphones.filter { !connected.contains($0) }
    guard !open.isEmpty else { return lost }
    let sentence =
      open.count == sets.bank.microphones.count
      ? "no microphone is connected" : "not connected: \(open.joined(separator: ", "))"
    return lost + [.init(sentence: sentence, patience: .seconds(3))]
  }

  /// What the meters give away. Patience outlasts the meters' peak hold of 1.5 s.
  private var signalSuspicions: [Warnings.Suspicion] {
    let names = sets.bank.microphones
    let levels = engine.levels
    let connected = wiring.connectedPorts
    var found: [Warnings.Suspicion] = []
    for (n, name) in names.enumerated() where engine.isMuted(microphone: n) {
      found.append(
        .init(sentence: "\(name) is muted: it sends values that are no sound", patience: .zero))
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
    guard let take else { return [] }
    if let fault = take.fault {
      return [.init(sentence: "nothing of the take reaches the disk any more: \(fault)", patience: .zero)]
    }
    // A sentence for each step, so that each is told once.
    let steps = [(10, "10 seconds"), (60, "a minute"), (600, "10 minutes")]
    guard let seconds = take.secondsLeft, let step = steps.first(where: { seconds < $0.0 }) else { return [] }
    return [
      .init(sentence: "the disk has room for less than \(step.1) of this take", patience: .zero)
    ]
  }

  private var systemSuspicions: [Warnings.Suspicion] {
    guard client.lacksRealtime else { return [] }
    let sentence =
      "the system does not grant realtime scheduling, so that there may be dropouts; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return [.init(sentence: sentence, patience: .zero)]
  }
}
