extension MonitorView {
  mutating func drawOverlay(_ rows: Range<Int>) {
    switch model.overlay {
    case .help(let page): drawHelp(rows, page)
    case .presets(let selected):
      drawChoice(rows, "Preset (arrows, Enter; Esc leaves it)", model.presets, selected, model.status?.preset)
    case .microphones(let selected):
      let names = (model.levels?.microphones ?? []).enumerated().map { "\($0 + 1) \($1.name)" }
      let listening = model.status?.listening
      let current = names.first { $0.split(separator: " ", maxSplits: 1).last.map(String.init) == listening }
      drawChoice(
        rows, "Listen to (arrows, Enter; Esc leaves it)", ["all: the route"] + names, selected,
        current ?? "all: the route")
    case .text(let row, let text):
      var what = "Text of the marker"
      if case .setting(let key) = row { what = "\(row.words.title): \(key.row.placeholder)" }
      drawBox(rows, ["\(what) (Enter sets it, Esc leaves it)", "> \(text)_"]) { _ in .plain }
    case nil: break
    }
  }

  /// - Parameter page: of the lines, where they are more than fit; after the last one comes the first.
  private mutating func drawHelp(_ rows: Range<Int>, _ page: Int) {
    let keys =
      Row.allCases.map { ($0.words.keys, $0.words.effect) } + [
        ("c Space", "clear clips and holds"), ("?", "this help, and what follows; other keys close it"),
        ("q", "quit; Pinna keeps running"),
      ]
    let lines = keys.map { "\($0)\(String(repeating: " ", count: 9 - $0.count))\($1)" }
    let all = lines + ["Bar: RMS; ┃ peak, ╎ hold. CLIP stays until c."]
    let room = max(1, rows.count - 2)
    guard all.count > room else { return drawBox(rows, all) { _ in .plain } }
    let (part, pages) = (max(1, room - 1), (all.count + max(1, room - 1) - 1) / max(1, room - 1))
    let shown = all.dropFirst(page % pages * part).prefix(part)
    drawBox(rows, shown + ["? more: \(page % pages + 1) of \(pages)"]) { $0 == shown.count ? .info : .plain }
  }

  private mutating func drawChoice(
    _ rows: Range<Int>, _ title: String, _ choices: [String], _ selected: Int, _ current: String?
  ) {
    let room = max(1, rows.count - 3)
    let selected = min(selected, max(0, choices.count - 1))
    let first = max(0, min(selected - room / 2, choices.count - room))
    let shown = choices.dropFirst(first).prefix(room)
    let more = choices.count > room ? " \(selected + 1)/\(choices.count)" : ""
    let lines = shown.map { ($0 == current ? "● " : "  ") + $0 }
    drawBox(rows, [title + more] + (lines.isEmpty ? ["  nothing to choose yet"] : lines)) {
      $0 == 0 ? .strong : $0 - 1 + first == selected ? .selected : .plain
    }
  }

  /// A framed box in the middle of `rows`.
  private mutating func drawBox(_ rows: Range<Int>, _ lines: [String], _ style: (Int) -> Style) {
    let width = min(grid.width - 4, max(44, lines.map(\.cells).max()! + 2))
    let lines = lines.prefix(rows.count - 2)
    let top = rows.lowerBound + (rows.count - lines.count - 2) / 2
    let left = (grid.width - width) / 2
    let edge = String(repeating: "─", count: width)
    grid.put(top, left - 1, "┌\(edge)┐", .info)
    for (index, line) in lines.enumerated() {
      grid.put(top + 1 + index, left - 1, "│", .info)
      grid.fill(top + 1 + index..<top + 2 + index, left..<left + width, style(index))
      grid.put(top + 1 + index, left + 1, line, style(index), limit: width - 2)
      grid.put(top + 1 + index, left + width, "│", .info)
    }
    grid.put(top + 1 + lines.count, left - 1, "└\(edge)┘", .info)
  }
}
