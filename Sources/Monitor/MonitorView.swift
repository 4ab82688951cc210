import Messages

/// Lays a model out on a grid: a line with what the device is doing, the device from above and the settings on the
/// left, the meters on the right, and below them warnings and the engine.
///
/// Thread: any; a value.
package struct MonitorView {
  package static let smallest = (width: 80, height: 24)
  /// What a larger terminal has beyond this stays empty: a frame's memory and time are bounded, and curses counts to 32
  /// 767.
  package static let largest = (width: 1000, height: 400)

  let model: MonitorModel
  let now: MonitorModel.Instant
  var grid: Grid

  /// - Parameters:
  ///   - width, height: of the terminal, in cells.
  ///   - now: for what is shown for a while.
  package static func grid(
    _ model: MonitorModel, width: Int, height: Int, at now: MonitorModel.Instant, isASCII: Bool = false
  ) -> Grid {
    var model = model
    model.expire(at: now)
    var view = MonitorView(model: model, now: now, grid: Grid(width: width, height: height))
    view.draw()
    return isASCII ? view.grid.inASCII : view.grid
  }

  private mutating func draw() {
    guard grid.width >= Self.smallest.width, grid.height >= Self.smallest.height else {
      return drawTooSmall()
    }
    drawHeader()
    // Of a fixed height, so that nothing moves when a warning comes or goes.
    let bottom = grid.height - 2 - warningRoom
    drawEngine(grid.height - 2)
    drawHints(grid.height - 1)
    if model.status == nil {
      drawAbsence(2..<bottom)
    } else {
      let left = min(max(grid.width * 2 / 5, 36), 64)
      let rows = rows(bottom - 2 - Self.leastPicture)
      let settings = bottom - rows.count
      drawPicture(2..<settings, 1..<left)
      drawMeters(2..<bottom, left + 2..<grid.width - 1)
      drawSettings(rows, settings, 1..<left)
    }
    if model.isStale(at: now) { dim(2..<bottom) }
    drawWarnings()
    drawOverlay(2..<bottom)
  }

  /// Old values are not to be taken for present ones.
  private mutating func dim(_ rows: Range<Int>) {
    for row in rows {
      for column in 0..<grid.width { grid.set(row, column, grid[row, column].scalar, .dim) }
    }
  }

  private mutating func drawTooSmall() {
    drawState(0)
    let text =
      "The window has \(grid.width)×\(grid.height) cells; pinna monitor needs \(Self.smallest.width)×\(Self.smallest.height). "
      + "Make it larger, or choose a smaller font. q quits."
    for (index, line) in text.wrapped(to: grid.width).enumerated() { grid.put(index + 1, 0, line) }
  }

  private mutating func drawAbsence(_ rows: Range<Int>) {
    let text = model.failure?.description ?? "Waiting for the Pinna named \"\(model.name)\" …"
    let lines =
      text.wrapped(to: min(70, grid.width - 8)) + ["", "The view continues as soon as it is there."]
    let start = max(rows.lowerBound, rows.lowerBound + (rows.count - lines.count) / 2)
    for (index, line) in lines.enumerated() {
      grid.put(start + index, (grid.width - line.cells) / 2, line, model.failure == nil ? .plain : .strong)
    }
  }

  private mutating func drawHints(_ row: Int) {
    let hint = " ? help   q quit   c clear clips and holds"
    grid.put(row, 0, hint, .dim)
    grid.put(row, endingAt: grid.width - 1, "pinna monitor", .dim)
  }
}

extension MonitorModel {
  /// Whether what is shown may no longer be so.
  func isStale(at now: Instant) -> Bool {
    guard let failure, let failingSince else { return false }
    return failure.status == .notRunning || now - failingSince >= Self.staleTime
  }
}

extension Int {
  /// Seconds as "0:07", "12:34" or "1:02:03".
  var clock: String {
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let (hours, minutes, seconds) = (self / 3600, self / 60 % 60, self % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds))" : "\(minutes):\(two(seconds))"
  }

  /// Seconds as "3 h 12 min" or "4 min": for what is left.
  var span: String {
    self >= 3600 ? "\(self / 3600) h \(self / 60 % 60) min" : self >= 60 ? "\(self / 60) min" : "\(self) s"
  }
}
