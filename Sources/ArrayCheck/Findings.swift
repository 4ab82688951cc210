extension ArrayHealth {
  /// - Returns: the gravest kinds first.
  func findings(_ wording: Wording) -> [Finding] {
    let alive = channels.indices.filter { !dead.contains($0) }
    return dead.map { m in wording.dead(m, below: channels[m].level.map { reference - $0 }) }
      + alive.filter { channels[$0].isClipped }.map { wording.clipped($0, runs: channels[$0].clippedRuns) }
      + alive.filter { channels[$0].hasOffset }.map { wording.offset($0, channels[$0].offset) }
      + hums.map(wording.hum) + wording.dull(dull) + copies.map(wording.doubled)
  }
}

extension WiringEvidence {
  func findings(_ wording: Wording, sampleRate: Int) -> [Finding] {
    polarityFindings(wording) + orderFindings(wording) + levelFindings(wording)
      + late.map { found in
        wording.late(found.candidates.map { (subset[$0.channel], $0.delay) }, sampleRate: sampleRate)
      }
  }

  private func polarityFindings(_ wording: Wording) -> [Finding] {
    let inverted = polarity.inverted.map { subset[$0] }
    if !inverted.isEmpty, polarity.isTie || subset.count == 2 {
      return [wording.opposed(inverted, subset.filter { !inverted.contains($0) })]
    }
    return inverted.map(wording.inverted)
  }

  private func orderFindings(_ wording: Wording) -> [Finding] {
    guard let order, !order.isGiven else { return [] }
    let moved = order.alternatives.map { other in
      other.indices.filter { other[$0] != $0 }.map { (subset[$0], subset[other[$0]]) }
    }
    return [moved[0].count == 2 ? wording.swapped(moved.map { $0[0] }) : wording.permuted(moved[0])]
  }

  private func levelFindings(_ wording: Wording) -> [Finding] {
    guard let deviations = levels?.deviations else { return [] }
    if subset.count == 2 {
      let difference = deviations[0] - deviations[1]
      guard abs(difference) > Thresholds.levelDeviation else { return [] }
      return [wording.louder(subset, isSecond: difference < 0, by: abs(difference))]
    }
    return deviations.indices.filter { abs(deviations[$0]) > Thresholds.levelDeviation }
      .map { wording.level(subset[$0], deviations[$0]) }
  }

  /// By microphone of the device, in dB; empty where levels could not be judged.
  var deviations: [Int: Double] {
    Dictionary(uniqueKeysWithValues: zip(subset, levels?.deviations ?? []))
  }

  func orderEvidence() -> OrderEvidence? {
    guard let order else { return nil }
    let gain = order.comparison.gain
    return OrderEvidence(
      events: inputs.events.count, fit: order.found.scores.mean, order: order.found.order.map { subset[$0] },
      givenIsWorse: order.isGiven ? 0 : 100 * gain / (1 + gain),
      second: order.second.map { ($0.order.map { subset[$0] }, -100 * $0.comparison.gain) })
  }

  /// What could not be judged, and why.
  func notes(_ wording: Wording) -> [String] {
    let polarityNote =
      polarity.isKnown || !polarity.inverted.isEmpty
      ? [] : [polarity.isFarApart ? Wording.farApart : Wording.noPolarity]
    guard let order else { return polarityNote + [Wording.fewSounds(inputs.events.count)] }
    let identity = Array(subset.indices)
    let images = Set(inputs.isometries)
    let symmetric = order.alike.filter { images.contains(identity.exchanging($0.0, $0.1)) }
    let others = order.alike.filter { !images.contains(identity.exchanging($0.0, $0.1)) }
    var notes = polarityNote
    if !symmetric.isEmpty { notes.append(wording.symmetric(groups(symmetric))) }
    if !others.isEmpty { notes.append(wording.alike(groups(others))) }
    if symmetric.isEmpty, images.count > 1 { notes.append(Wording.mirrored) }
    if lateObstacle == nil, late.isEmpty, subset.count - 1 - inputs.table.rank <= 1 {
      notes.append(Wording.smallDelays)
    }
    if let lateObstacle { notes.append(Wording.noDelays(lateObstacle, microphones: subset.count)) }
    if levels == nil { notes.append(Wording.noLevels) }
    return notes
  }

  /// Microphones that can all be exchanged are one group.
  private func groups(_ pairs: [(Int, Int)]) -> [[Int]] {
    var groups: [Set<Int>] = []
    for (a, b) in pairs {
      let touching = groups.filter { $0.contains(a) || $0.contains(b) }
      groups.removeAll { $0.contains(a) || $0.contains(b) }
      groups.append(touching.reduce([a, b]) { $0.union($1) })
    }
    return groups.map { $0.sorted().map { subset[$0] } }
  }
}
