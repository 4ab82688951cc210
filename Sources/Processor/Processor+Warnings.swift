import Glibc
import JackClient
import Messages
import Realtime

/// Warnings about connections, signals, the disk and the system.
extension Processor {
  /// Checks connections and levels, and writes new warnings.
  func watchInputs(_ readings: Readings) {
    watchMicrophones(readings)
    let candidates =
      connectionWarnings(readings) + presetWarnings + outputWarnings + signalWarnings(readings)
      + systemWarnings(readings) + [diskWarning].compactMap { $0 }.map { Warnings.Candidate($0) }
    for sentence in warnings.update(candidates, now: world.now) { warn(sentence) }
  }

  private func connectionWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    let lost = graph.lost.map {
      Warnings.Candidate("\($0.port) has lost \($0.peer)", isReported: true)
    }
    let sources = graph.connections
    let open = readings.microphones.filter { sources[$0] == nil }
    let found = lost + sharedSourceWarnings(readings.microphones)
    guard !open.isEmpty else { return found }
    let sentence =
      open.count == readings.microphones.count
      ? "no microphone is connected" : "not connected: \(open.joined(separator: ", "))"
    return found + [.init(sentence, after: .seconds(3))]
  }

  /// Warnings about microphones that are connected to identical sources.
  private func sharedSourceWarnings(_ microphones: [String]) -> [Warnings.Candidate] {
    let groups = Dictionary(grouping: microphones.filter { graph.connections[$0] != nil }) {
      graph.connections[$0]!
    }
    return groups.filter { $1.count > 1 }.map { sources, names -> Warnings.Candidate in
      let both = names.count == 2 ? "both" : "all"
      return Warnings.Candidate(
        "\(names.dropLast().joined(separator: ", ")) and \(names.last!) carry the same signal: "
          + "\(both) are connected to \(sources.sorted().joined(separator: ", "))", after: .seconds(3))
    }.sorted { $0.sentence < $1.sentence }
  }

  /// Warnings about connections of the preset that cannot be made.
  private var presetWarnings: [Warnings.Candidate] {
    let refused = graph.refusedConnections.map {
      Warnings.Candidate(
        "JACK refuses to connect \($0.port) to \($0.peer); check whether one is an input and the other an output",
        after: .seconds(3))
    }
    return refused
      + graph.missingConnections.map {
        .init(
          "there is no port \($0.peer), to which preset \(inForce.preset) connects \($0.port); they are connected when it appears",
          after: .seconds(3))
      }
  }

  /// Warnings about output ports that do not exist, perhaps because of a typing error.
  private var outputWarnings: [Warnings.Candidate] {
    graph.missingTargets.map {
      .init(
        "there is no port \($0) for the outputs; they are connected to it when it appears, list ports with: "
          + JackLibrary.command("jack_lsp"),
        after: .seconds(3))
    }
  }

  /// Warnings derived from the meters. Hold times exceed the meters' peak hold of 1.5 s.
  private func signalWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    let names = readings.microphones
    let levels = readings.levels
    let sources = graph.connections
    var found: [Warnings.Candidate] = []
    for name in readings.mutedMicrophones {
      found.append(.init("\(name) is muted: it sends invalid samples (NaN, infinity, or above +60 dBFS)"))
    }
    let floor = Float(pow(10, StatusFields.signalFloor / 20))
    let sounding = zip(names, levels).filter { $1.peak > floor }.map(\.0)
    let silent = names.indices.filter { sources[names[$0]] != nil && levels[$0].peak < 1e-6 }.map {
      names[$0]
    }
    if sounding.count == 1, silent.count > 1 {
      let all = silent.joined(separator: ", ")
      found.append(.init("only \(sounding[0]) has a signal; silent: \(all)", after: .seconds(3)))
    } else if !sounding.isEmpty {
      for name in silent {
        found.append(.init("\(name) is silent while others are not", after: .seconds(3)))
      }
    }
    for (a, b) in duplicateSignals.observe(names, levels, now: world.now) where sources[a] != sources[b] {
      found.append(.init("\(a) and \(b) have carried the same signal for a minute"))
    }
    return found
  }

  /// The most serious warning about the disk; nil if there is none.
  private var diskWarning: String? {
    takes.hanging.removeAll { !$0.isOpening }
    guard let take = state.take?.take else {
      return takes.hanging.isEmpty
        ? nil : "the disk has not answered earlier requests for a take or a playback"
    }
    if let fault = take.fault { return "the take is no longer being written to disk: \(fault)" }
    if let loss = take.loss { return "\(loss); end the take with: pinna record stop" }
    if take.unansweredFor > .seconds(2) {
      return "the disk does not answer; the take's ring buffers up to 8 s"
    }
    // One sentence per step, so that each step warns once.
    let steps = [(10, "10 seconds"), (60, "a minute"), (600, "10 minutes")]
    return take.secondsLeft.flatMap { seconds in steps.first { seconds < $0.0 } }
      .map { "the disk has room for less than \($0.1) of this take" }
  }

  private func systemWarnings(_ readings: Readings) -> [Warnings.Candidate] {
    var found = (readings.problems + [trackerProblem].compactMap(\.self)).map { Warnings.Candidate($0) }
    let hung = AbandonedJobs.count
    if hung > 0 {
      found.append(
        .init(
          "\(hung) thread\(hung == 1 ? " is" : "s are") blocked in calls to the disk or to JACK that do not return",
          after: .seconds(3)))
    }
    guard readings.lacksRealtime else { return found }
    let sentence =
      "the system does not grant realtime scheduling, so dropouts are likely; add \"@audio - rtprio 95\" "
      + "to /etc/security/limits.d/audio.conf and join the group audio"
    return found + [.init(sentence)]
  }
}
