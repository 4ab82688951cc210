import Acoustics
import Messages
import Settings
import Text

extension MonitorView {
  /// In lines.
  private static let longestNotice = 6

  /// Lines of the picture above the settings that are not taken for these.
  static let leastPicture = 5

  /// Those for which there is room: the last ones of the settings that may be off are left out, first those that are.
  func rows(_ room: Int) -> [Row] {
    var rows = Row.allCases
    for leavesOutOthers in [false, true] {
      for row in rows.reversed() where rows.count > room {
        guard case .setting(let key) = row, let unsaid = key.row.feed?.unsaid,
          leavesOutOthers || model.feed?.first.value(of: key) == unsaid && model.notices[row] == nil
        else { continue }
        rows.removeAll { $0 == row }
      }
    }
    return rows
  }

  /// One row for each setting, with the key that changes it; in place of the value, or below it, what came of a key.
  mutating func drawSettings(_ rows: [Row], _ top: Int, _ columns: Range<Int>) {
    let value = columns.lowerBound + 16
    for (index, row) in rows.enumerated() {
      grid.put(top + index, columns.lowerBound, row.words.key, .info)
      let isTurned = row == .setting(.look) && model.feed?.selection.polarPattern.isOriented == true
      grid.put(top + index, columns.lowerBound + 3, isTurned ? "Pose" : row.words.title, .dim)
      let (text, style) = self.value(of: row, room: columns.upperBound - value)
      grid.put(top + index, value, text, style, limit: columns.upperBound - value)
    }
    // Newer ones cover older ones.
    for (row, notice) in model.notices.sorted(by: { $0.value.end < $1.value.end }) {
      draw(notice, of: row, among: rows, top, value..<columns.upperBound)
    }
  }

  /// Shows a notice from its row on, over the values below it; in the lowest rows it begins higher.
  private mutating func draw(
    _ notice: MonitorModel.Notice, of row: Row, among rows: [Row], _ top: Int, _ columns: Range<Int>
  ) {
    let style: Style =
      switch notice.kind {
      case .refusal: .alarmBlock
      case .info: .cautionBlock
      case .progress: .selected
      }
    // A long one reads better across the meters than as a narrow column over all settings.
    let isLong = notice.text.wrapped(to: columns.count).count > 3
    let columns = isLong ? columns.lowerBound..<grid.width - 1 : columns
    var lines = notice.text.wrapped(to: columns.count)
    if lines.count > Self.longestNotice {
      lines.removeLast(lines.count - Self.longestNotice)
      lines[lines.count - 1] = (lines[lines.count - 1] + " …").clipped(to: columns.count)
    }
    let index = rows.firstIndex(of: row) ?? rows.count
    let first = top + min(index, rows.count - lines.count)
    grid.fill(first..<first + lines.count, columns, style)
    for (line, text) in lines.enumerated() { grid.put(first + line, columns.lowerBound, text, style) }
  }

  /// - Parameter room: in cells.
  private func value(of row: Row, room: Int) -> (String, Style) {
    guard let status = model.status else { return ("–", .dim) }
    switch row {
    case .feed, .setting:
      return model.feed.map { value(of: row, $0, in: status, room) }
        ?? (row == .feed ? ("\(model.chosenFeed): gone", .alarmBlock) : ("–", .dim))
    case .preset: return (status.preset, .strong)
    case .record:
      switch status.state {
      case .recording: return ("● RECORDING", .alarm)
      case .armed: return ("armed", .caution)
      case .playing, .stopped: return ("off", .strong)
      }
    case .marker: return (status.take?.markers.map { String($0) } ?? "–", .strong)
    case .listen:
      return status.listening.map { ("only \($0)", .cautionBlock) } ?? ("off", .strong)
    }
  }

  private func value(
    of row: Row, _ feed: FeedReport, in status: StatusReport, _ room: Int
  ) -> (String, Style) {
    guard case .setting(let key) = row else {
      let names = status.allFeeds.map(\.name)
      let count = names.count == 1 ? "" : " (\(names.firstIndex(of: feed.name)! + 1) of \(names.count))"
      if feed.isHeard { return (feed.name + count, .strong) }
      return feed.obstacle == nil ? ("\(feed.name): preparing", .info) : ("\(feed.name): not heard", .caution)
    }
    let pattern = feed.selection.polarPattern
    switch (key, feed.first.value(of: key) ?? .off) {
    case (.look, _):
      let (long, short) = (feed.selection.turnText, feed.selection.turnWords)
      return (long.cells <= room ? long : short, .strong)
    case (.orientation, let value): return (value.word, pattern.isOriented ? .strong : .dim)
    case (.adapt, let value): return (value.word, pattern == .stereo ? .strong : .dim)
    case (.mute, let value): return value == .flag(true) ? ("MUTED", .alarmBlock) : ("off", .strong)
    case (.gain, .number(let gain)): return (String(format: "%+.1f dB", gain), .strong)
    case (_, .number(let number)):
      guard case .number(_, let unit, _) = key.row.kind else { return (number.plain, .strong) }
      return (number.plain + (unit.isEmpty ? "" : " " + unit), .strong)
    case (_, let value): return (value.word, .strong)
    }
  }
}

extension Selection {
  /// What of `follow` turns the pattern.
  private var turning: [Followed] {
    follows.sorted().filter { [.look, .talker].contains($0) != polarPattern.isOriented }
  }

  /// Where it is turned: "roll 30°, yaw -15°, following roll", "60°, following look"; "none" or "forward" if nothing is
  /// set.
  fileprivate var turnText: String {
    let angles =
      polarPattern.isOriented
      ? [roll.map { "roll \(degrees($0))°" }, yaw.map { "yaw \(degrees($0))°" }].compactMap(\.self)
      : [effectiveLook.map { "\($0)" } ?? "forward"]
    let followed =
      turning.isEmpty ? [] : ["following " + turning.map(\.rawValue).joined(separator: ", ")]
    let parts = angles + followed
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }

  /// The same in the words of `pinna set`, for narrow windows, without the angle of what follows: "yaw -15 follow roll".
  fileprivate var turnWords: String {
    let angles =
      polarPattern.isOriented
      ? [
        turning.contains(.roll) ? nil : roll.map { "roll \(degrees($0))" },
        turning.contains(.yaw) ? nil : yaw.map { "yaw \(degrees($0))" },
      ].compactMap(\.self)
      : [effectiveLook?.word ?? "forward"]
    let followed = turning.isEmpty ? [] : ["follow " + turning.map(\.rawValue).joined(separator: ",")]
    return (angles + followed).joined(separator: " ")
  }

  private func degrees(_ angle: Double) -> String { angle.plain }
}
