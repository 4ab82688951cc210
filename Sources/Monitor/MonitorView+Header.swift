import Acoustics
import Messages
import Settings
import Text

extension MonitorView {
  /// Row 0: what Pinna is, and its state; the whole row is red while it records. Row 1: the take.
  mutating func drawHeader() {
    let style = drawState(0)
    let name = model.name == "pinna" ? "Pinna" : "Pinna \(model.name)"
    let input = model.status.map { " · \($0.device) · \($0.input.name)" } ?? ""
    let isBlock = [.alarmBlock, .cautionBlock].contains(style)
    grid.put(0, 1, name + input, isBlock ? style : .strong, limit: grid.width - stateText.text.cells - 6)
    if let line = takeLine {
      let room = grid.width - 2 - line.before.cells - line.after.cells
      let text = line.before + line.path.clippedAtStart(to: max(8, room)) + line.after
      grid.put(1, 1, text, line.style, limit: grid.width - 2)
    }
  }

  /// Writes the state at the right end of a row.
  @discardableResult
  mutating func drawState(_ row: Int) -> Style {
    let (text, style) = stateText
    if [.alarmBlock, .cautionBlock].contains(style) { grid.fill(row..<row + 1, 0..<grid.width, style) }
    grid.put(row, max(0, grid.width - text.cells - 2), " \(text) ", style)
    return style
  }

  /// What one must know at a glance.
  var stateText: (text: String, style: Style) {
    guard let status = model.status else {
      return model.failure == nil ? ("CONNECTING", .cautionBlock) : ("NO PINNA", .alarmBlock)
    }
    if model.isStale(at: now) {
      let isGone = model.failure?.status == .notRunning
      return (isGone ? "NO PINNA" : "PINNA DOES NOT ANSWER", .alarmBlock)
    }
    let muted = status.muted ? "MUTED  " : ""
    if status.state == .recording {
      let seconds = status.sampleRate > 0 ? (status.take?.frames ?? 0) / status.sampleRate : 0
      let fault = status.take?.fault != nil || status.take?.loss != nil
      return (muted + (fault ? "RECORDING FAULT " : "● RECORDING ") + seconds.clock, .alarmBlock)
    }
    switch status.server {
    case .gone: return ("NO JACK SERVER", .cautionBlock)
    case .stalled: return ("NO JACK PERIODS", .cautionBlock)
    case .unusable: return ("JACK SERVER UNUSABLE", .cautionBlock)
    case .joining: return ("JOINING", .cautionBlock)
    case .running: break
    }
    switch status.state {
    case .armed: return (muted + "ARMED", .cautionBlock)
    case .playing: return (muted + "▶ PLAYING" + playingTime(status), .cautionBlock)
    case .stopped, .recording: return status.muted ? ("MUTED", .cautionBlock) : ("LIVE", .goodBlock)
    }
  }

  private func playingTime(_ status: StatusReport) -> String {
    guard let playback = status.playback, status.sampleRate > 0 else { return "" }
    return
      " \((playback.framesPlayed / status.sampleRate).clock)/\((playback.frames / status.sampleRate).clock)"
  }

  /// The take that runs, is played, or was last: its path, and what is said before and after it.
  private var takeLine: (before: String, path: String, after: String, style: Style)? {
    guard let status = model.status else { return nil }
    if let take = status.take {
      if let fault = take.fault { return ("nothing is written any more: \(fault)", "", "", .alarm) }
      if let loss = take.loss { return ("a file of the take was removed: \(loss)", "", "", .alarm) }
      if status.state == .armed {
        return ("the take begins when the transport rolls: ", take.path, "", .caution)
      }
      let title = take.title.map { "\"\($0.clipped(to: grid.width / 2))\" · " } ?? ""
      let others =
        (take.feeds ?? []).filter { $0 != FeedSetting.main } + (take.raw == true ? ["microphones"] : [])
      let also = others.isEmpty ? "" : " and \(others.joined(separator: ", ").clipped(to: grid.width / 3))"
      return (title, take.path, also, .plain)
    }
    if let playback = status.playback { return ("", playback.playing, "", .plain) }
    if let closing = status.closingTakes.first { return ("being written: ", closing, "", .caution) }
    guard let last = status.lastTake else { return nil }
    if let fault = last.fault { return ("last take incomplete: \(fault): ", last.path, "", .alarm) }
    let seconds = status.sampleRate > 0 ? (last.frames / status.sampleRate).clock : ""
    let cause = last.endedBecause.map { "; it ended because \($0)" } ?? ""
    return ("last take \(seconds) ", last.path, cause, cause.isEmpty ? .dim : .caution)
  }

  /// The rows that warnings have.
  var warningRoom: Int { max(2, grid.height / 10) }

  /// Writes warnings above the engine. What is to be done about a Pinna that has gone may be longer: old values make
  /// room.
  mutating func drawWarnings() {
    let lines = warningLines
    let top = grid.height - 2 - max(warningRoom, lines.count)
    grid.fill(top..<grid.height - 2, 0..<grid.width, .plain)
    for (index, line) in lines.enumerated() { grid.put(top + index, 1, line.text, line.style) }
  }

  /// Warnings, or why nothing is heard from Pinna; as many as there is room for.
  private var warningLines: [(text: String, style: Style)] {
    guard let status = model.status else { return [] }
    let all: [String]
    var room = warningRoom
    if model.isStale(at: now), let failure = model.failure {
      all = [failure.description]
      room = max(room, 5)
    } else {
      let missing = status.fallback?.missing.map { "microphone \($0.name): \($0.fault.sentence)" } ?? []
      let obstacle = status.fallback?.obstacle.map { "no filters without the missing microphones: \($0)" }
      // What to do about silence makes room for the poses and talkers that are shown below: pinna status has it, too.
      let isBrief = status.trackerText != nil || status.talkersLine != nil
      let reason = status.silence.map { $0.prefix { $0 != ";" } }
      let silence = isBrief ? reason.map { String($0) } : status.silence
      all =
        missing + [obstacle, silence.map { "nothing is heard: \($0)" }].compactMap(\.self)
        + status.warnings.filter { warning in reason.map { warning != $0 } ?? true }
    }
    var lines: [(text: String, style: Style)] = []
    for warning in all {
      let wrapped = warning.wrapped(to: grid.width - 4)
      for (index, line) in wrapped.enumerated() {
        lines.append(((index == 0 ? "! " : "  ") + line, .caution))
      }
    }
    if let text = status.designText { lines.append((text.clipped(to: grid.width - 4), .info)) }
    for case let text? in [status.adaptationLine, status.windLine] where lines.count < room {
      lines.append((text.clipped(to: grid.width - 4), .info))
    }
    for text in [status.trackerText, status.talkersLine].compactMap(\.self) where lines.count < room {
      lines.append((text.clipped(to: grid.width - 4), .dim))
    }
    guard lines.count > room else { return lines }
    let hidden = lines.count - room
    lines.removeLast(lines.count - room)
    let more = " (+\(hidden) \(hidden == 1 ? "line" : "lines"); see: pinna status)"
    lines[room - 1].text = lines[room - 1].text.clipped(to: grid.width - 2 - more.cells) + more
    return lines
  }

  /// The engine, the disk, and everything that went wrong.
  mutating func drawEngine(_ row: Int) {
    guard let status = model.status, !model.isStale(at: now) else { return }
    var column = 1
    func add(_ text: String, _ style: Style = .plain) {
      if column > 1 { column = grid.put(row, column, " · ", .dim) }
      column = grid.put(row, column, text, style)
    }
    let load = status.dspLoad
    add(String(format: "load %.0f %%", load), load > 80 ? .alarm : load > 60 ? .caution : .plain)
    add("xruns \(status.xruns)", status.xruns > 0 ? .caution : .plain)
    if let seconds = status.take?.secondsLeft {
      add("disk \(seconds.span) left", seconds < 600 ? .alarm : seconds < 3600 ? .caution : .plain)
    }
    if status.clippedSamples > 0 { add("clipped \(status.clippedSamples)", .alarm) }
    if status.rejectedSamples > 0 { add("invalid \(status.rejectedSamples)", .alarm) }
    if status.unpreparedPeriods > 0 { add("gaps \(status.unpreparedPeriods)", .caution) }
    if let missed = status.playback?.missedFrames, missed > 0 { add("gaps in playback \(missed)", .caution) }
    if let change = status.change {
      add("changing to \(change.device) \(Int(100 * change.progress)) %", .info)
    }
    if let controller = status.controller { add("route held by \(controller)", .info) }
    let rate = String(format: "%g kHz", Double(status.sampleRate) / 1000)
    let delay =
      status.sampleRate > 0
      ? String(format: "%.1f ms", 1000 * Double(status.latencyFrames) / Double(status.sampleRate)) : "–"
    add("\(rate), period \(status.period), filters \(delay)", .dim)
  }
}
