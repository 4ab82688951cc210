import Acoustics
import Glibc
import Messages
import Settings
import Text

extension MonitorModel {
  /// Obeys a key.
  /// - Returns: the requests that it asks for.
  package mutating func press(_ key: Key, at now: Instant) -> [Command] {
    expire(at: now)
    if let overlay { return press(key, in: overlay) }
    // Refusals are read by now.
    if ![.character("r"), .character("R")].contains(key) { confirmation = nil }
    notices = notices.filter { $0.value.kind != .refusal }
    switch key {
    case .character("q"): isDone = true
    case .character("?"): overlay = .help(page: 0)
    case .character(" "), .character("c"): (holds, clips) = ([:], [])
    case .character("f"): chooseFeed(1, now)
    case .character("F"): chooseFeed(-1, now)
    case .character("s"):
      overlay = .presets(selected: presets.firstIndex { $0 == status?.preset } ?? 0)
    case .character("r"): return record(raw: false, now)
    case .character("R"): return record(raw: true, now)
    case .character("k"): return mark("mark \((status?.take?.markers ?? 0) + 1)", now)
    case .character("K"):
      if isLocked { overlay = .text(.marker, "") } else { return mark("", now) }
    case .character("l"):
      let index = levels?.microphones.firstIndex { $0.name == status?.listening }
      overlay = .microphones(selected: index.map { $0 + 1 } ?? 0)
    default: return change(by: key, now)
    }
    return []
  }

  // MARK: The settings of a feed

  /// What a key changes of the chosen feed, and which way.
  private static let changes: [Key: (setting: SettingKey, step: Step)] = {
    var changes: [Key: (SettingKey, Step)] = [
      .left: (.look, .turn(left: 5, up: 0)), .right: (.look, .turn(left: -5, up: 0)),
      .up: (.look, .turn(left: 0, up: 5)), .down: (.look, .turn(left: 0, up: -5)),
      .shiftLeft: (.look, .turn(left: 1, up: 0)), .shiftRight: (.look, .turn(left: -1, up: 0)),
      .shiftUp: (.look, .turn(left: 0, up: 1)), .shiftDown: (.look, .turn(left: 0, up: -1)),
      .character("0"): (.look, .to("off")), .character("="): (.gain, .by(1)),
      .character("_"): (.gain, .by(-1)),
    ]
    for key in SettingKey.ofFeeds where key != .look {
      let letters = (key.row.feed?.line?.keys ?? "").split(separator: " ").compactMap(\.first)
      for (letter, step) in zip(letters, [1, -1]) { changes[.character(letter)] = (key, .by(step)) }
    }
    return changes
  }()

  private enum Step {
    case by(Int)
    /// In degrees.
    case turn(left: Double, up: Double)
    case to(String)
  }

  private mutating func change(by key: Key, _ now: Instant) -> [Command] {
    guard status != nil, let (setting, step) = Self.changes[key] else { return [] }
    let row = Row.setting(setting)
    guard let feed, let inForce = feed.first.value(of: setting)?.word else {
      refuse(row, "there is no feed \(chosenFeed) any more; f chooses another", now)
      return []
    }
    if setting == .look, feed.selection.polarPattern.isOriented { return turn(feed.first, step, now) }
    if setting.row.feed?.line?.isTyped == true {
      overlay = .text(row, "")
      return []
    }
    // Presses count on from what was tried last.
    let attempt = attempts[row].flatMap { Pose(words: $0.value) == nil ? $0.value : nil }
    let present = attempt ?? inForce
    let value: String? =
      switch step {
      case .by(let step): self.value(of: setting, step, after: present, feed.first)
      case .turn(let left, let up): look(present).turned(left: left, up: up).word
      case .to(let value): value
      }
    guard let value, setting == .gain || value != present else {
      refuse(row, "there is no other choice", now)
      return []
    }
    attempts[row] = Attempt(value: value, end: now + .seconds(3))
    return [Command(row, OSCMessage(set: setting, of: feed.name, to: value))]
  }

  /// The value that a key asks for, as `pinna set` takes it; nil if there is none to choose.
  private func value(of key: SettingKey, _ step: Int, after present: String, _ feed: FeedSetting) -> String? {
    switch key.row.kind {
    case .name: return choice(input?.dataSources?.map(\.name) ?? [], step, after: present)
    case .word(let words, _):
      return choice(key == .pattern ? patterns(of: feed) : words, step, after: present)
    case .text(let words, _): return choice(words + people, step, after: present)
    case .flag: return present == "on" ? "off" : "on"
    case .number(let range, _, _):
      let (number, steps) = (Double(present) ?? 0, key.row.feed?.line?.steps ?? [])
      guard !steps.isEmpty else {
        return String(format: "%g", min(max(number + Double(step), range.lowerBound), range.upperBound))
      }
      if steps.count == 2 { return key.row.word(number == steps[0] ? steps[1] : steps[0]) }
      // A number between two of the list goes to the next in the key's direction. Only what can be off begins again.
      let ahead = step > 0 ? steps : steps.reversed()
      let next = ahead.first { ahead[0] < ahead[1] ? $0 > number : $0 < number }
      return (next ?? (key.row.canBeOff ? ahead[0] : nil)).map(key.row.word)
    case .follow:
      let isOriented = feed.selection.polarPattern.isOriented
      return choice(
        isOriented ? ["off", "roll", "yaw", "roll,yaw"] : ["off", "look", "talker"], step, after: present)
    case .look: return nil
    }
  }

  /// Those of whom a part can be: who is seated, and who else spoke in the last seconds.
  private var people: [String] {
    let seated = (status?.seats ?? []).compactMap { try? Seat(word: $0).name }
    let others = (status?.talkers ?? []).filter { talker in !seated.contains { $0 == talker.name } }
    return seated + others.map { "\($0.identity)" }
  }

  /// Turns stereo and B-format. Both angles are sent, so that a request may take the place of one that has not been sent.
  private mutating func turn(_ feed: FeedSetting, _ step: Step, _ now: Instant) -> [Command] {
    let present = attempts[.setting(.look)].flatMap { Pose(words: $0.value) } ?? feed.selection.pose
    let pose: Pose =
      if case .turn(let left, let up) = step { present.turned(left: left, up: up) } else { .none }
    guard pose != present else {
      refuse(.setting(.look), "there is no other choice", now)
      return []
    }
    attempts[.setting(.look)] = Attempt(value: pose.words, end: now + .seconds(3))
    let words = [feed.name] + pose.words.split(separator: " ").map(String.init)
    return [Command(.setting(.look), OSCMessage(OSCMethod.feedSet, words.map { .string($0) }))]
  }

  private func look(_ word: String) -> Look {
    guard case .set(_, .look(let look))? = try? Change(.look, word) else { return .ahead }
    return look
  }

  private func choice(_ choices: [String], _ step: Int, after present: String) -> String? {
    guard !choices.isEmpty else { return nil }
    return choices.firstIndex(of: present).map { choices[($0 + step + choices.count) % choices.count] }
      ?? choices[0]
  }

  private mutating func chooseFeed(_ step: Int, _ now: Instant) {
    let names = status?.allFeeds.map(\.name) ?? []
    guard names.contains(where: { $0 != chosenFeed }) else {
      return refuse(.feed, "there is only main; add one with: pinna feed add", now)
    }
    let index = names.firstIndex(of: chosenFeed)
    chosenFeed = names[index.map { ($0 + step + names.count) % names.count } ?? 0]
    attempts = [:]
  }

  /// Those that the data source of `feed` offers. Its ports stay, so `main` alone changes between mono and stereo.
  private func patterns(of feed: FeedSetting) -> [String] {
    let source = input?.dataSources?.first { $0.name == feed.selection.dataSource }
    return (source?.supportedPolarPatterns ?? []).filter {
      feed.isMain || $0.outputs == feed.selection.polarPattern.outputs
    }.map(\.rawValue)
  }

  private mutating func refuse(_ row: Row, _ reason: String, _ now: Instant) {
    notices[row] = Notice(kind: .refusal, text: reason, end: now + Self.refusalTime)
  }

  // MARK: Takes

  /// - Parameter raw: whether a take that begins has the microphones, too.
  private mutating func record(raw: Bool, _ now: Instant) -> [Command] {
    defer { lastRecordKey = now }
    if let lastRecordKey, now - lastRecordKey < Self.repeatTime { return [] }
    guard let status else { return [] }
    guard isLocked else {
      let options = raw ? ["raw", "on"] : []
      return [Command(.record, OSCMessage("/pinna/record/start", options.map { .string($0) }))]
    }
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
    case .help(let page):
      if key == .character("q") { isDone = true }
      self.overlay = key == .character("?") ? .help(page: page + 1) : nil
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
      if text.isEmpty { return [] }
      guard case .setting(let key) = row else { return [Command(row, "/pinna/record/marker", text)] }
      return [Command(row, OSCMessage(set: key, of: chosenFeed, to: text))]
    case .escape: overlay = nil
    case .backspace: overlay = .text(row, String(text.dropLast()))
    case .character(let character): overlay = .text(row, String((text + String(character)).prefix(120)))
    default: break
    }
    return []
  }
}
