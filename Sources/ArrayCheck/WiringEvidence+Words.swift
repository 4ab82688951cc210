import Acoustics

extension WiringEvidence {
  /// Polarity, order and delays, in words.
  /// - Parameter subset: the device's microphone of each channel judged.
  func findings(_ subset: [Int], names all: [String], sampleRate: Int) -> [Finding] {
    let names = subset.map { all[$0] }
    var findings: [Finding] = []
    if !inverted.isEmpty, isTie || names.count == 2 {
      let others = names.indices.filter { !inverted.contains($0) }
      let (a, b) = (inverted.map { names[$0] }.listed(), others.map { names[$0] }.listed())
      let concerned = inverted + others
      findings.append(
        Finding(
          .inverted, concerned.map { subset[$0] }, isOneOf: true,
          verdicts: concerned.map { "inverted against \(inverted.contains($0) ? b : a)" },
          sentence:
            "\(a) and \(b) have opposite polarity; which of them is inverted cannot be told from sound",
          remedy:
            "swap the two wires of one of them, or write \"polarity: inverted\" for it in the device file"))
    } else {
      for m in inverted {
        findings.append(
          Finding(
            .inverted, subset[m], verdict: "inverted", sentence: "\(names[m]) is inverted against the others",
            remedy: "swap its two wires, or write \"polarity: inverted\" for it in the device file"))
      }
    }
    if let order, !order.isGiven {
      let found = order.found.order
      let moved = found.indices.filter { found[$0] != $0 }
      // What a channel carries is what its microphone's place is taken by.
      let others = order.alternatives.dropFirst().map { other in other.indices.filter { other[$0] != $0 } }
      if moved.count == 2, !others.isEmpty {
        let all = [moved] + others
        let concerned = all.flatMap { $0 }
        findings.append(
          Finding(
            .swapped, concerned.map { subset[$0] }, isOneOf: true,
            verdicts: all.flatMap { pair in
              ["perhaps swapped with \(names[pair[1]])", "perhaps swapped with \(names[pair[0]])"]
            },
            sentence: all.map { "\(names[$0[0]]) and \(names[$0[1]])" }.joined(separator: ", or ")
              + ", are swapped; the array is symmetric, so that sound cannot tell which",
            remedy: "tap one of them and watch the meters, then exchange that pair's connections"))
      } else if moved.count == 2 {
        findings.append(
          Finding(
            .swapped, moved.map { subset[$0] }, verdicts: moved.map { "swapped with \(names[found[$0]])" },
            sentence: "\(names[moved[0]]) and \(names[moved[1]]) are swapped",
            remedy: "exchange their connections, or their channels in the device file"))
      } else {
        let pairs = moved.map { "\(names[$0]) carries \(names[found[$0]])" }
        findings.append(
          Finding(
            .permuted, moved.map { subset[$0] }, verdicts: moved.map { "carries \(names[found[$0]])" },
            sentence: "the channels are in another order: \(pairs.listed())",
            remedy: "connect each microphone to its own port, or write its \"channel\" in the device file"))
      }
    }
    for (candidates, isOneOf) in late {
      let best = candidates[0]
      let microseconds = Int((best.delay * 1e6).rounded())
      let frames = (abs(best.delay) * Double(sampleRate) * 10).rounded() / 10
      let word = microseconds < 0 ? "early" : "late"
      let size = "\(abs(microseconds)) µs (\(frames) frames)"
      let who = candidates.map { names[$0.microphone] }
      findings.append(
        Finding(
          .late, candidates.map { subset[$0.microphone] }, isOneOf: isOneOf, size: Double(microseconds),
          verdicts: candidates.map {
            "\(isOneOf ? "perhaps " : "")\(abs(Int(($0.delay * 1e6).rounded()))) µs \($0.delay < 0 ? "early" : "late")"
          },
          sentence: isOneOf
            ? "one of \(who.listed("or")) comes about \(size) \(word), or the other way round"
            : "\(who[0]) comes \(size) \(word)",
          remedy: "record all microphones through one interface; what remains, pinna array calibrate measures"
        ))
    }
    return findings
  }

  func canJudgeLevels(_ device: Device) -> Bool {
    guard events.count >= Self.fewestEvents else { return false }
    let isDirectional = device.microphones.contains { $0.capsule != nil }
    return !isDirectional || (levels.explained < 6 && directions >= 2)
  }

  func levelFindings(_ subset: [Int], device: Device) -> [Finding] {
    guard canJudgeLevels(device) else { return [] }
    let names = subset.map { device.microphones[$0].name }
    if subset.count == 2 {
      let difference = levels.deviations[0] - levels.deviations[1]
      guard abs(difference) > LevelComparison.threshold else { return [] }
      let louder = difference > 0 ? 0 : 1
      return [
        Finding(
          .level, subset, isOneOf: true, size: abs(difference),
          verdicts: [0, 1].map {
            $0 == louder ? "too loud, or the other too quiet" : "too quiet, or the other too loud"
          },
          sentence: "\(names[louder]) is \(signed(abs(difference))) dB louder than \(names[1 - louder])",
          remedy: "set the gains of the interface alike, or run: pinna array calibrate")
      ]
    }
    return subset.indices.filter { abs(levels.deviations[$0]) > LevelComparison.threshold }.map { channel in
      let value = levels.deviations[channel]
      return Finding(
        .level, subset[channel], size: value, verdict: value > 0 ? "too loud" : "too quiet",
        sentence: "\(names[channel]) is \(signed(value)) dB against the median microphone",
        remedy: "set the gains of the interface alike, or run: pinna array calibrate")
    }
  }

  func orderEvidence(_ subset: [Int]) -> OrderEvidence? {
    guard let order else { return nil }
    let gain = order.comparison.gain
    return OrderEvidence(
      events: events.count, fit: order.found.mean, order: order.found.order.map { subset[$0] },
      givenIsWorse: order.isGiven ? 0 : 100 * gain / (1 + gain),
      second: order.second.map { ($0.order.map { subset[$0] }, -100 * $0.comparison.gain) })
  }

  /// What could not be judged, and why.
  func notes(_ subset: [Int], device: Device) -> [String] {
    let names = subset.map { device.microphones[$0].name }
    var notes: [String] = []
    if !knowsPolarity, inverted.isEmpty {
      notes.append("Polarity was not judged: there was too little sound below 500 Hz; speak, or play music")
    }
    guard let order else {
      notes.append(
        "Order, delays and levels were not judged: only \(events.count) sounds began in this recording; let somebody "
          + "speak for 10 s")
      return notes
    }
    let size = names.count
    let exchanged = order.alike
    let images = Set(isometries)
    func isImage(_ pair: (Int, Int)) -> Bool {
      var swap = Array(0..<size)
      swap.swapAt(pair.0, pair.1)
      return images.contains(swap)
    }
    let symmetric = exchanged.filter(isImage)
    let others = exchanged.filter { !isImage($0) }
    if !symmetric.isEmpty {
      notes.append(
        "Whether \(groups(symmetric, names)) are exchanged cannot be told: the array is the same either way; tap them "
          + "one after another and watch the meters")
    }
    if !others.isEmpty {
      notes.append(
        "Whether \(groups(others, names)) are exchanged cannot be told from where the sound came; let somebody speak "
          + "from other sides")
    }
    if symmetric.isEmpty, isometries.count > 1 {
      notes.append(
        "Whether the whole array is mirrored or turned cannot be told: it is symmetric; speak from a known side and "
          + "listen")
    }
    if lateObstacle == nil, late.isEmpty, size - 1 - rank <= 1 {
      notes.append(
        "Delays below 100 µs of single microphones may go unnoticed: the array has hardly more microphones than directions need"
      )
    }
    if let lateObstacle { notes.append("Delays were not judged: \(lateObstacle)") }
    if !canJudgeLevels(device) {
      notes.append(
        "Levels were not judged: the capsules are directional, and sound came from too few sides; let somebody walk "
          + "around the array")
    }
    return notes
  }

  /// "a and b, or c and d"; microphones that can all be exchanged are named together.
  private func groups(_ pairs: [(Int, Int)], _ names: [String]) -> String {
    var groups: [Set<Int>] = []
    for (a, b) in pairs {
      let touching = groups.filter { $0.contains(a) || $0.contains(b) }
      groups.removeAll { $0.contains(a) || $0.contains(b) }
      groups.append(touching.reduce([a, b]) { $0.union($1) })
    }
    return groups.map { $0.sorted().map { names[$0] }.listed() }.joined(separator: ", or ")
  }
}
