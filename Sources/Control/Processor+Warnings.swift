import Realtime

extension Processor {
  /// Looks at connections and levels, and tells what is newly wrong.
  func watchInputs() {
    guard rejoin == nil else {
      _ = warnings.update([], now: .now)
      return
    }
    for sentence in warnings.update(wiringSuspicions + signalSuspicions + systemSuspicions, now: .now) {
      warn(sentence)
    }
  }

  private var wiringSuspicions: [Warnings.Suspicion] {
    // Told as events when they happen.
    let lost = wiring.lost.map {
      Warnings.Suspicion(sentence: "\($0.port) has lost \($0.peer)", patience: .zero)
    }
    let connected = wiring.connectedPorts
    let open = sets.bank.microphones.filter { !connected.contains($0) }
    guard !open.isEmpty else { return lost }
    let count = open.count == sets.bank.microphones.count ? "no microphone is connected" : "not connected: "
    let names = open.count == sets.bank.microphones.count ? "" : open.joined(separator: ", ")
    return lost + [.init(sentence: count + names, patience: .seconds(3))]
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

  private var systemSuspicions: [Warnings.Suspicion] {
    guard client.lacksRealtime else { return [] }
    let sentence =
      "the system does not grant realtime scheduling, so that there may be dropouts; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return [.init(sentence: sentence, patience: .zero)]
  }
}
