import Detection

extension PipeWireDump {
  /// What the session manager makes of the arrays among `cards`: those with more than two capture channels, or with a
  /// device that needs more.
  public func findings(_ cards: [DetectedCard]) -> [Finding] {
    let arrays = cards.filter { $0.arrayChannels > 2 }
    guard !arrays.isEmpty else {
      return [.ok(Finding.cards, "no card with more than two channels is plugged in")]
    }
    return arrays.map(finding)
  }

  private func finding(_ detected: DetectedCard) -> Finding {
    let name = "\(detected.card.name) (card \(detected.card.index))"
    guard let card = cards.first(where: { $0.index == detected.card.index }) else {
      return .warning(
        Finding.cards, "PipeWire does not show \(name)",
        because:
          "its session manager hides it, or another program has taken it: its microphones cannot be connected",
        remedy:
          "wpctl status, and look for rules with device.disabled in ~/.config/wireplumber and /etc/wireplumber"
      )
    }
    let proAudio = card.profiles.first { $0.name == "pro-audio" }
    let remedy =
      proAudio.map { "wpctl set-profile \(card.id) \($0.index)" } ?? "pavucontrol: profile Pro Audio"
    guard let active = card.active else {
      return .ok(Finding.cards, "\(name): PipeWire does not tell its profile")
    }
    guard active.name != "pro-audio" else { return .ok(Finding.cards, "\(name) has the profile Pro Audio") }
    // Those of UCM, such as "HiFi (Mic)", have outputs and inputs.
    let isOutputAlone = active.name.hasPrefix("output:") && !active.name.contains("input:")
    guard active.name != "off", !isOutputAlone else {
      return .warning(
        Finding.cards, "\(name) has the profile \(active.description), which hides its microphones",
        because: "PipeWire then has no ports for them", remedy: remedy)
    }
    return .warning(
      Finding.cards, "\(name) has the profile \(active.description)",
      because: "it may mix, leave out or reorder the channels of an array; Pro Audio gives them as they are",
      remedy: remedy)
  }
}

extension Finding {
  fileprivate static let cards = "sound cards"
}

extension DetectedCard {
  /// Capture channels of the card, or of the device that it is.
  fileprivate var arrayChannels: Int {
    let known = matches.filter { $0.certainty != .candidate }.map(\.hardware.channels).max()
    return max(card.channels ?? 0, known ?? 0)
  }
}
