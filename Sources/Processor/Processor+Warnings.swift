import JackClient
import Messages
import Realtime

/// Warnings about connections, signals, the disk and the system.
///
/// Thread: control thread.
extension Processor {
  /// Checks connections and levels, and writes new warnings.
  func watchInputs(_ readings: Readings) {
    watchMicrophones(readings)
    let candidates =
      connectionWarnings(readings) + presetWarnings + outputWarnings + signalWarnings(readings)
      + systemWarnings(readings)
      + takeWarnings
    for sentence in warnings.update(candidates, now: world.now) { warn(sentence) }
  }

  private func connectionWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    let lost = graph.lost.map {
      Warnings.Candidate(sentence: "\($0.port) has lost \($0.peer)", holdTime: .zero, isReported: true)
    }
    let sources = graph.connections
    let open = readings.microphones.filter { sources[$0] == nil }
    guard !open.isEmpty else { return lost + sharedSourceWarnings(readings.microphones) }
    let sentence =
      open.count == readings.microphones.count
      ? "no microphone is connected" : "not connected: \(open.joined(separator: ", "))"
    return lost + sharedSourceWarnings(readings.microphones) + [
      .init(sentence: sentence, holdTime: .seconds(3))
    ]
  }

  /// Warnings about microphones that are connected to identical sources.
  private func sharedSourceWarnings(_ microphones: [String]) -> [Warnings.Candidate] {
    let groups = Dictionary(grouping: microphones.filter { graph.connections[$0] != nil }) {
      graph.connections[$0]!
    }
    return groups.filter { $1.count > 1 }.map { sources, names -> Warnings.Candidate in
      let both = names.count == 2 ? "both" : "all"
      return Warnings.Candidate(
        sentence: "\(names.dropLast().joined(separator: ", ")) and \(names.last!) carry the same signal: "
          + "\(both) are connected to \(sources.sorted().joined(separator: ", "))", holdTime: .seconds(3))
    }.sorted { $0.sentence < $1.sentence }
  }

  /// Warnings about connections of the preset that cannot be made.
  private var presetWarnings: [Warnings.Candidate] {
    let refused = graph.refusedConnections.map {
      Warnings.Candidate(
        sentence:
          "JACK refuses to connect \($0.port) to \($0.peer); check whether one is an input and the other an output",
        holdTime: .zero)
    }
    return refused
      + graph.missingConnections.map {
        .init(
          sentence:
            "there is no port \($0.peer), to which preset \(inForce.preset) connects \($0.port); they are connected when it appears",
          holdTime: .seconds(3))
      }
  }

  /// Warnings about output ports that do not exist, perhaps because of a typing error.
  private var outputWarnings: [Warnings.Candidate] {
    graph.missingTargets.map {
      .init(
        sentence:
          "there is no port \($0) for the outputs; they are connected to it when it appears, list ports with: jack_lsp",
        holdTime: .seconds(3))
    }
  }

  /// Warnings derived from the meters. Hold times exceed the meters' peak hold of 1.5 s.
  private func signalWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    let names = readings.microphones
    let levels = readings.levels
    let sources = graph.connections
    var found: [Warnings.Candidate] = []
    for name in readings.mutedMicrophones {
      found.append(
        .init(
          sentence: "\(name) is muted: it sends invalid samples (NaN, infinity, or above +60 dBFS)",
          holdTime: .zero))
    }
    let isSounding = zip(names, levels).contains { $1.peak > 1e-3 }
    for (n, name) in names.enumerated() where isSounding && sources[name] != nil && levels[n].peak < 1e-6 {
      found.append(.init(sentence: "\(name) is silent while others are not", holdTime: .seconds(3)))
    }
    for (a, b) in duplicateSignals.observe(names, levels, now: world.now) where sources[a] != sources[b] {
      found.append(
        .init(sentence: "\(a) and \(b) have carried the same signal for a minute", holdTime: .zero))
    }
    return found
  }

  private var takeWarnings: [Warnings.Candidate] {
    takes.hanging.removeAll { !$0.isOpening }
    guard let take = state.take?.take else {
      guard !takes.hanging.isEmpty else { return [] }
      return [
        .init(
          sentence: "the disk has not answered earlier requests for a take or a playback",
          holdTime: .zero)
      ]
    }
    if let fault = take.fault {
      return [.init(sentence: "the take is no longer being written to disk: \(fault)", holdTime: .zero)]
    }
    if let loss = take.loss {
      return [.init(sentence: "\(loss); end the take with: pinna record stop", holdTime: .zero)]
    }
    let silent = take.unansweredFor
    if silent > .seconds(2) {
      return [
        .init(
          sentence: "the disk does not answer; the take's ring buffers up to 8 s",
          holdTime: .zero)
      ]
    }
    // One sentence per step, so that each step warns once.
    let steps = [(10, "10 seconds"), (60, "a minute"), (600, "10 minutes")]
    guard let seconds = take.secondsLeft, let step = steps.first(where: { seconds < $0.0 }) else { return [] }
    return [
      .init(sentence: "the disk has room for less than \(step.1) of this take", holdTime: .zero)
    ]
  }

  private func systemWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    var found = readings.problems.map { Warnings.Candidate(sentence: $0, holdTime: .zero) }
    let hung = AbandonedJobs.count
    if hung > 0 {
      found.append(
        .init(
          sentence:
            "\(hung) thread\(hung == 1 ? " is" : "s are") blocked in calls to the disk or to JACK that do not return",
          holdTime: .seconds(3)))
    }
    guard readings.lacksRealtime else { return found }
    let sentence =
      "the system does not grant realtime scheduling, so dropouts are likely; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return found + [.init(sentence: sentence, holdTime: .zero)]
  }
}
