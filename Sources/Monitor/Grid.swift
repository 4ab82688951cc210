import Text

/// How a cell looks. What it becomes on a terminal, with and without colour, is `Screen`'s matter.
package enum Style: UInt8, CaseIterable, Sendable {
  case plain, dim, strong
  /// Green, yellow, red, cyan.
  case good, caution, alarm, info
  /// White on red, black on yellow, black on green, and reverse.
  case alarmBlock, cautionBlock, goodBlock, selected
}

/// A character cell. A wide character is followed by a cell whose `scalar` is `Cell.continuation`.
package struct Cell: Hashable, Sendable {
  package static let continuation: Unicode.Scalar = "\0"
  package var scalar: Unicode.Scalar = " "
  package var style = Style.plain
}

/// A rectangle of cells, onto which a view is laid out. What does not fit is cut.
///
/// Thread: any; a value.
package struct Grid: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// Row after row.
  package private(set) var cells: [Cell]

  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
    cells = Array(repeating: Cell(), count: self.width * self.height)
  }

  package subscript(row: Int, column: Int) -> Cell { cells[row * width + column] }

  /// One row as text.
  package func text(_ row: Int) -> String {
    var text = ""
    for cell in cells[row * width..<(row + 1) * width] where cell.scalar != Cell.continuation {
      text.unicodeScalars.append(cell.scalar)
    }
    return text
  }

  /// All rows, without spaces at their ends.
  package var text: String {
    (0..<height).map { row in
      var line = text(row)
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Writes `text` from `column` on. Text that is longer than `limit` cells ends with "…".
  /// - Returns: the column after the text.
  @discardableResult
  package mutating func put(
    _ row: Int, _ column: Int, _ text: String, _ style: Style = .plain, limit: Int = .max
  ) -> Int {
    guard row >= 0, row < height else { return column }
    let room = min(limit, width - column)
    var column = column
    for scalar in text.printable.clipped(to: room).unicodeScalars {
      let cells = scalar.cells
      guard cells > 0 else { continue }
      set(row, column, scalar, style)
      if cells == 2 { set(row, column + 1, Cell.continuation, style) }
      column += cells
    }
    return column
  }

  /// Writes `text` so that it ends before `end`.
  package mutating func put(_ row: Int, endingAt end: Int, _ text: String, _ style: Style = .plain) {
    put(row, end - text.printable.cells, text, style)
  }

  package mutating func set(_ row: Int, _ column: Int, _ scalar: Unicode.Scalar, _ style: Style = .plain) {
    guard row >= 0, row < height, column >= 0, column < width else { return }
    cells[row * width + column] = Cell(scalar: scalar, style: style)
  }

  /// Blanks `columns` of `rows`.
  package mutating func fill(_ rows: Range<Int>, _ columns: Range<Int>, _ style: Style) {
    for row in rows { for column in columns { set(row, column, " ", style) } }
  }

  /// The same in ASCII: frames and bars have counterparts, other characters become "?".
  package var inASCII: Grid {
    var grid = self
    for index in cells.indices where cells[index].scalar.value > 126 {
      grid.cells[index].scalar = Self.ascii[cells[index].scalar] ?? "?"
    }
    for index in cells.indices where cells[index].scalar == Cell.continuation {
      grid.cells[index].scalar = " "
    }
    return grid
  }

  private static let ascii: [Unicode.Scalar: Unicode.Scalar] = [
    "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┼": "+", "·": ".",
    "•": "o",
    "●": "*", "▶": ">", "…": ".", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "=", "▍": "=", "▎": "-",
    "▏": "-",
    "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "#", "▲": "^", "▼": "v", "◀": "<",
    "◆": "*",
    "×": "x", "−": "-", "–": "-", "—": "-", "°": "o", "┃": "|", "╎": ":", "↑": "^", "↓": "v", "→": ">",
    "←": "<",
  ]
}

extension Unicode.Scalar {
  /// How many cells a terminal gives it: 0 for what combines or controls, 2 for East Asian wide characters and emoji.
  package var cells: Int {
    switch value {
    case 0..<0x20, 0x7F..<0xA0: 0
    case 0x20..<0x300: 1
    default:
      switch properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format, .control, .surrogate, .lineSeparator,
        .paragraphSeparator:
        0
      default: isWide ? 2 : 1
      }
    }
  }

  /// - Source: Unicode Standard Annex 11, the blocks whose characters are W or F.
  private var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}

extension String {
  /// The cells that a terminal needs for it.
  package var cells: Int { unicodeScalars.reduce(0) { $0 + $1.cells } }

  /// The same if it fits into `room` cells, otherwise its start and "…".
  package func clipped(to room: Int) -> String {
    guard cells > room else { return self }
    return room > 0 ? start(of: room - 1) + "…" : ""
  }

  /// The same if it fits into `room` cells, otherwise "…" and its end.
  package func clippedAtStart(to room: Int) -> String {
    guard cells > room else { return self }
    guard room > 0 else { return "" }
    var (end, used) = (String.UnicodeScalarView(), 1)
    for scalar in unicodeScalars.reversed() {
      guard used + scalar.cells <= room else { break }
      end.append(scalar)
      used += scalar.cells
    }
    return "…" + String(String.UnicodeScalarView(end.reversed()))
  }

  /// As many characters as fit into `room` cells.
  private func start(of room: Int) -> String {
    var (text, used) = ("", 0)
    for scalar in unicodeScalars {
      guard used + scalar.cells <= room else { break }
      text.unicodeScalars.append(scalar)
      used += scalar.cells
    }
    return text
  }

  /// The same broken into lines of at most `width` cells, at spaces where possible.
  package func wrapped(to width: Int) -> [String] {
    guard width > 0 else { return [] }
    var lines: [String] = []
    var line = ""
    for word in printable.split(separator: " ").map(String.init) {
      if line.isEmpty {
        line = word
      } else if line.cells + 1 + word.cells <= width {
        line += " " + word
      } else {
        lines.append(line)
        line = word
      }
      while line.cells > width {
        let head = line.start(of: width)
        guard !head.isEmpty else { break }
        lines.append(head)
        line = String(line.unicodeScalars.dropFirst(head.unicodeScalars.count))
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
