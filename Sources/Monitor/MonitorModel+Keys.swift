import Acoustics
import Glibc
import Messages
import Text

extension MonitorModel {
  static let corners: [Double?] = [nil, 40, 60, 80, 100, 120, 160, 200, 300]

  /// Obeys a key.
  /// - Returns: the requests that it asks for.
  package mutating func press(_ key: Key, at now: Instant) -> [Command] {
    expire(at: now)
    if let overlay { return press(key, in: overlay) }
    guard case .character(let character) = key else { return [] }
    // Refusals are read by now.
    if character != "r" { confirmation = nil }
    notices = notices.filter { $0.value.kind != .refusal }
    switch character {
    case "q": isDone = true
    case "?": overlay = .help
    case " ", "c": (holds, clips) = ([:], [])
    case "d", "D":
      let choices = input?.dataSources?.map(\.name) ?? []
      return step(.source, character == "d" ? 1 : -1, choices, status?.dataSource, "data-source", now)
    case "p", "P":
      let choices = source?.supportedPolarPatterns.map(\.rawValue) ?? []
      return step(.pattern, character == "p" ? 1 : -1, choices, status?.polarPattern.rawValue, "pattern", now)
    case "o", "O":
      let choices = InputOrientation.allCases.map(\.rawValue)
      return step(
        .orientation, character == "o" ? 1 : -1, choices, status?.inputOrientation.rawValue, "orientation",
        now)
    case "+", "=": return changeGain(1, now)
    case "-", "_": return changeGain(-1, now)
    case "h", "H":
      return stepHighPass(character == "h" ? 1 : -1, now)
    case "m":
      guard let status else { return [] }
      let isMuted = attempts[.mute].map { $0.value == "on" } ?? status.muted
      return [set(.mute, "mute", isMuted ? "off" : "on", now)]
    case "s":
      overlay = .presets(selected: presets.firstIndex { $0 == status?.preset } ?? 0)
    case "r": return record(now)
    case "k": return mark("mark \((status?.take?.markers ?? 0) + 1)", now)
    case "K":
      if isLocked { overlay = .text(.marker, "") } else { return mark("", now) }
    case "l":
      let index = levels?.microphones.firstIndex { $0.name == status?.listening }
      overlay = .microphones(selected: index.map { $0 + 1 } ?? 0)
    default: break
    }
    return []
  }

  // MARK: Settings

  private mutating func set(_ row: Row, _ key: String, _ value: String, _ now: Instant) -> Command {
    attempts[row] = Attempt(value: value, end: now + .seconds(3))
    return Command(row, "/pinna/set/\(key)", value)
  }

  private mutating func refuse(_ row: Row, _ reason: String, _ now: Instant) {
    notices[row] = Notice(kind: .refusal, text: reason, end: now + Self.refusalTime)
  }

  /// Asks for the choice after or before the one in force, or that was tried last.
  private mutating func step(
    _ row: Row, _ step: Int, _ choices: [String], _ inForce: String?, _ key: String, _ now: Instant
  ) -> [Command] {
    guard let inForce else { return [] }
    guard choices.contains(where: { $0 != inForce }) else {
      refuse(row, "there is no other choice", now)
      return []
    }
    let index = choices.firstIndex { $0 == attempts[row]?.value ?? inForce }
    let next = index.map { ($0 + step + choices.count) % choices.count } ?? 0
    return [set(row, key, choices[next], now)]
  }

  private mutating func changeGain(_ step: Double, _ now: Instant) -> [Command] {
    guard let status else { return [] }
    let before = attempts[.gain].flatMap { Double($0.value) } ?? status.gainDB
    let gain = min(max(before + step, -60), 24)
    return [set(.gain, "gain", String(format: "%g", gain), now)]
  }

  private mutating func stepHighPass(_ step: Int, _ now: Instant) -> [Command] {
    guard let status else { return [] }
    let before = attempts[.highPass].map { Double($0.value) } ?? status.highPassHz
    // A corner between two of the list goes to the next in the key's direction.
    let corners = Self.corners.map { $0 ?? 0 }
    let at = before ?? 0
    let next =
      step > 0
      ? corners.first { $0 > at } ?? corners[0] : corners.last { $0 < at } ?? corners[corners.count - 1]
    return [set(.highPass, "high-pass", next == 0 ? "off" : String(format: "%g", next), now)]
  }

  // MARK: Takes

  private mutating func record(_ now: Instant) -> [Command] {
    defer { lastRecordKey = now }
    if let lastRecordKey, now - lastRecordKey < Self.repeatTime { return [] }
    guard let status else { return [] }
    guard isLocked else { return [Command(.record, "/pinna/record/start")] }
    if confirmation != nil {
      confirmation = nil
      notices[.record] = nil
      return [Command(.record, "/pinna/record/stop")]
    }
    confirmation = now + Self.confirmationTime
    let effect = status.state == .armed ? "to disarm" : "to end the take"
    notices[.record] = Notice(
      kind: .info, text: "press r again \(effect)", end: now + Self.confirmationTime)
    return []
  }

  private mutating func mark(_ text: String, _ now: Instant) -> [Command] {
    guard isLocked else {
      refuse(.marker, "no take is running", now)
      return []
    }
    return [Command(.marker, "/pinna/record/marker", text)]
  }

  // MARK: Overlays

  private mutating func press(_ key: Key, in overlay: Overlay) -> [Command] {
    switch overlay {
    case .help:
      if key == .character("q") { isDone = true }
      self.overlay = nil
    case .presets(let selected):
      let selected = min(selected, max(0, presets.count - 1))
      guard let moved = Self.move(key, selected, of: presets.count) else {
        self.overlay = nil
        guard key == .enter, presets.indices.contains(selected) else { return [] }
        return [Command(.preset, "/pinna/preset/use", presets[selected])]
      }
      self.overlay = .presets(selected: moved)
    case .microphones(let selected):
      let names = levels?.microphones.map(\.name) ?? []
      guard let moved = Self.move(key, min(selected, names.count), of: names.count + 1) else {
        self.overlay = nil
        guard key == .enter, selected <= names.count else { return [] }
        return [Command(.listen, "/pinna/set/listen", selected == 0 ? "off" : names[selected - 1])]
      }
      self.overlay = .microphones(selected: moved)
    case .text(let row, let text): return type(key, row, text)
    }
    return []
  }

  /// The index after a key; nil if it ends the choice.
  private static func move(_ key: Key, _ index: Int, of count: Int) -> Int? {
    let step: Int
    switch key {
    case .up, .character("k"): step = -1
    case .down, .character("j"): step = 1
    case .pageUp: step = -10
    case .pageDown: step = 10
    case .other: step = 0
    default: return nil
    }
    return min(max(index + step, 0), max(0, count - 1))
  }

  private mutating func type(_ key: Key, _ row: Row, _ text: String) -> [Command] {
    switch key {
    case .enter:
      overlay = nil
      return text.isEmpty ? [] : [Command(row, "/pinna/record/marker", text)]
    case .escape: overlay = nil
    case .backspace: overlay = .text(row, String(text.dropLast()))
    case .character(let character): overlay = .text(row, String((text + String(character)).prefix(120)))
    default: break
    }
    return []
  }
}
