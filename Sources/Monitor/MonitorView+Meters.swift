import Messages
import Text

extension MonitorView {
  /// Both outputs, their correlation, other feeds as far as microphones leave room, and every microphone, in as many
  /// columns as they need.
  mutating func drawMeters(_ rows: Range<Int>, _ columns: Range<Int>) {
    let outputs = model.levels?.outputs ?? []
    var row = rows.lowerBound
    grid.put(row, columns.lowerBound, "OUT", .dim)
    drawScale(row, columns, label: 9)
    row += 1
    for (level, name) in zip(outputs, ["L", "R"]) {
      drawMeter(row, columns, level, label: name, labelWidth: 9, labelStyle: .strong)
      row += 1
    }
    drawCorrelation(row, columns)
    row += 1
    let microphones = model.levels?.microphones ?? []
    let end = max(row, rows.upperBound - 2 - min(8, microphones.count))
    row = drawFeeds(row..<end, columns) + 1
    let room = row + 1..<rows.upperBound
    grid.put(row, columns.lowerBound, "MICROPHONES", .dim)
    let count = max(1, (microphones.count + room.count - 1) / max(1, room.count))
    let width = (columns.count + 1) / count
    if width < 8 { return drawMatrix(room, columns, microphones) }
    // Even columns.
    let height = (microphones.count + count - 1) / count
    let digits = String(microphones.count).count
    for (index, level) in microphones.enumerated() {
      let start = columns.lowerBound + index / height * width
      let end = count == 1 ? columns.upperBound : start + width - 1
      drawMicrophone(room.lowerBound + index % height, start..<end, level, index, digits)
    }
  }

  /// The meters of feeds besides `main`, the chosen one first: whole feeds as far as they fit, then how many more there
  /// are, and of which feeds.
  /// - Returns: the row after them.
  private mutating func drawFeeds(_ rows: Range<Int>, _ columns: Range<Int>) -> Int {
    let all = model.status?.feeds ?? []
    let feeds = all.filter { $0.name == model.chosenFeed } + all.filter { $0.name != model.chosenFeed }
    let levels = Dictionary(
      (model.levels?.feeds ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let fit = feeds.reduce(0) { $0 + $1.outputs.count } <= rows.count
    let end = fit ? rows.upperBound : rows.upperBound - 1
    var row = rows.lowerBound
    var hidden: [(name: String, count: Int)] = []
    for feed in feeds {
      // The chosen one is cut where there is not room for all of it.
      let room = max(0, end - row)
      let count = feed.outputs.count <= room || feed.name == model.chosenFeed ? feed.outputs.count : 0
      for (output, channel) in zip(feed.outputs, feed.first.channelNames).prefix(min(count, room)) {
        let level = levels[output.name] ?? output
        let style: Style = feed.name == model.chosenFeed ? .strong : .plain
        drawMeter(
          row, columns, level, label: Self.label(feed, channel), labelWidth: 9, labelStyle: style)
        row += 1
      }
      let rest = feed.outputs.count - min(count, room)
      if rest > 0 { hidden.append((feed.name, rest)) }
    }
    guard !hidden.isEmpty, row < rows.upperBound else { return row }
    let count = hidden.reduce(0) { $0 + $1.count }
    let text = "+ \(count) more: \(hidden.map(\.name).joined(separator: ", "))"
    grid.put(row, columns.lowerBound, text.clipped(to: columns.count), .info)
    return row + 1
  }

  /// A channel of a feed in 8 cells: "anna", "kitc…1 L", "room 12".
  private static func label(_ feed: FeedReport, _ channel: String) -> String {
    let word =
      switch feed.outputs.count {
      case 1: ""
      case 2: " " + channel.prefix(1).uppercased()
      default: " " + channel
      }
    let room = 8 - word.count
    // Names of several often differ in their ends.
    let name = feed.name.count <= room ? feed.name : "\(feed.name.prefix(room - 2))…\(feed.name.suffix(1))"
    return name + word
  }

  private mutating func drawMicrophone(
    _ row: Int, _ columns: Range<Int>, _ level: StatusFields.NamedLevel, _ index: Int, _ digits: Int
  ) {
    let number = String(index + 1)
    let label = String(repeating: " ", count: digits - number.count) + number
    let isListened = model.status?.listening == level.name
    let style: Style = isListened ? .cautionBlock : .plain
    // The number is that in the picture; the name as far as there is room.
    let nameRoom = columns.count >= 36 ? min(18, columns.count / 4) : columns.count >= 22 ? 6 : 0
    let text = nameRoom > 0 ? "\(label) \(level.name.clipped(to: nameRoom))" : label
    let labelWidth = digits + (nameRoom > 0 ? nameRoom + 2 : 1)
    guard let fault = fault(of: level.name) else {
      return drawMeter(row, columns, level, label: text, labelWidth: labelWidth, labelStyle: style)
    }
    grid.put(row, columns.lowerBound, text, style)
    let start = columns.lowerBound + labelWidth
    grid.put(row, start, fault, .alarmBlock, limit: columns.upperBound - start)
  }

  /// What is wrong with a microphone, in a word.
  private func fault(of name: String) -> String? {
    guard let status = model.status else { return nil }
    if let missing = status.fallback?.missing.first(where: { $0.name == name }) {
      return missing.fault.rawValue
    }
    return status.mutedMicrophones.contains(name) ? "invalid" : nil
  }

  /// A bar of the RMS level with peak and hold, their figures where there is room, and a latched clip.
  private mutating func drawMeter(
    _ row: Int, _ columns: Range<Int>, _ level: StatusFields.NamedLevel, label: String, labelWidth: Int,
    labelStyle: Style
  ) {
    let hold = model.holds[level.name] ?? level.peakDB
    let hasClipped = model.clips.contains(level.name)
    grid.put(row, columns.lowerBound, label, labelStyle)
    let hasFigures = columns.count - labelWidth >= 25
    let bar = columns.lowerBound + labelWidth..<columns.upperBound - (hasFigures ? 13 : 1)
    drawBar(row, bar, rms: level.rmsDB, peak: level.peakDB, hold: hold)
    if hasFigures {
      grid.put(row, endingAt: bar.upperBound + 6, Self.decibels(level.peakDB), Self.style(level.peakDB))
      if hasClipped {
        grid.put(row, endingAt: bar.upperBound + 13, " CLIP ", .alarmBlock)
      } else {
        grid.put(row, endingAt: bar.upperBound + 12, Self.decibels(hold), .dim)
      }
    } else if hasClipped {
      grid.put(row, columns.upperBound - 1, "!", .alarmBlock)
    }
  }

  private mutating func drawBar(_ row: Int, _ columns: Range<Int>, rms: Double, peak: Double, hold: Double) {
    let width = columns.count
    guard width > 0 else { return }
    let eighths = Int((Self.position(rms) * Double(8 * width)).rounded())
    for index in 0..<width {
      let style = Self.style(Self.level((Double(index) + 0.5) / Double(width)))
      let filled = eighths - 8 * index
      let column = columns.lowerBound + index
      if filled > 0 {
        grid.set(row, column, Self.eighths[min(filled, 8) - 1], style)
      } else {
        grid.set(row, column, "·", .dim)
      }
    }
    func mark(_ level: Double, _ scalar: Unicode.Scalar) {
      guard level > Self.range.lowerBound else { return }
      let index = min(width - 1, Int(Self.position(level) * Double(width)))
      if 8 * index >= eighths { grid.set(row, columns.lowerBound + index, scalar, Self.style(level)) }
    }
    mark(hold, "╎")
    mark(peak, "┃")
  }

  private mutating func drawScale(_ row: Int, _ columns: Range<Int>, label: Int) {
    let bar = columns.lowerBound + label..<columns.upperBound - 13
    for level in bar.count >= 30 ? [-60.0, -40, -20, -10] : [-60, -40, -20] {
      let column = bar.lowerBound + Int(Self.position(level) * Double(bar.count))
      grid.put(row, level == -60 ? column : column - 1, String(Int(level)), .dim)
    }
    grid.put(row, endingAt: bar.upperBound, "0", .dim)
    grid.put(row, endingAt: bar.upperBound + 12, "peak  hold", .dim)
  }

  private mutating func drawCorrelation(_ row: Int, _ columns: Range<Int>) {
    grid.put(row, columns.lowerBound, "correl.", .dim)
    let bar = columns.lowerBound + 9..<columns.upperBound - 13
    guard let correlation = model.levels?.correlation, correlation.isFinite else {
      grid.put(row, bar.lowerBound, "–", .dim)
      return
    }
    let style: Style = correlation < -0.3 ? .alarm : correlation < 0 ? .caution : .good
    for column in bar { grid.set(row, column, "─", .dim) }
    let place = (min(max(correlation, -1), 1) + 1) / 2 * Double(bar.count - 1)
    grid.set(row, bar.lowerBound + (bar.count - 1) / 2, "┼", .dim)
    grid.set(row, bar.lowerBound + Int(place.rounded()), "◆", style)
    grid.put(row, endingAt: bar.upperBound + 6, String(format: "%+.2f", correlation), style)
  }

  /// For more microphones than bars fit: one column of a bar graph for each, ten or more in a row.
  private mutating func drawMatrix(
    _ rows: Range<Int>, _ columns: Range<Int>, _ microphones: [StatusFields.NamedLevel]
  ) {
    let label = String(microphones.count).count + 1
    let perRow = max(10, (columns.count - label) / 10 * 10)
    for (index, level) in microphones.enumerated() {
      let row = rows.lowerBound + index / perRow
      guard row < rows.upperBound else { return }
      if index % perRow == 0 { grid.put(row, columns.lowerBound, String(index + 1), .dim) }
      let column = columns.lowerBound + label + index % perRow
      if fault(of: level.name) != nil {
        grid.set(row, column, "×", .alarmBlock)
      } else if model.clips.contains(level.name) {
        grid.set(row, column, "!", .alarmBlock)
      } else {
        let height = Int((Self.position(level.rmsDB) * 8).rounded())
        grid.set(row, column, height == 0 ? "·" : Self.heights[height - 1], Self.style(level.peakDB))
      }
    }
  }

  // MARK: The scale

  private static let eighths: [Unicode.Scalar] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
  private static let heights: [Unicode.Scalar] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// In dB; linear in between.
  private static let range = -60.0...0.0

  /// Where a level is on a bar, from 0 to 1.
  private static func position(_ level: Double) -> Double {
    (min(max(level, range.lowerBound), range.upperBound) - range.lowerBound)
      / (range.upperBound - range.lowerBound)
  }

  private static func level(_ position: Double) -> Double {
    range.lowerBound + position * (range.upperBound - range.lowerBound)
  }

  private static func style(_ level: Double) -> Style {
    level >= -3 ? .alarm : level >= -12 ? .caution : .good
  }

  static func decibels(_ level: Double) -> String {
    level <= -100 ? "–" : String(format: "%.1f", level)
  }
}
