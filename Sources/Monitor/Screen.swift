import CFiles
import CNcurses
import Glibc
import Messages
import Settings

/// curses, writing into a file in memory: it finds the fewest bytes that change the last frame into the next one, and
/// `Terminal` sends them without ever waiting.
///
/// Thread: the loop's.
final class Screen {
  private let file: Int32
  private let hasColours: Bool
  private var shown: Grid?

  /// - Parameter type: of the terminal, as TERM names it.
  /// - Throws: if that is unknown, or cannot move its cursor.
  init(type: String, allowsColour: Bool) throws(Failure) {
    file = pinna_memory_file()
    guard file >= 0, let output = fdopen(file, "w"), let input = fopen("/dev/null", "r") else {
      throw Failure(.failed, "pinna monitor finds no memory for its screen")
    }
    guard pinna_screen_open(type, output, input) != nil else {
      throw Failure(
        .usage,
        "pinna monitor cannot draw on a terminal of type \"\(type)\"; set TERM to what it is, for example xterm-256color"
      )
    }
    hasColours = allowsColour && pinna_screen_colours()
  }

  /// The bytes that make the terminal show `grid`.
  func bytes(showing grid: Grid) -> [UInt8] {
    if shown?.width != grid.width || shown?.height != grid.height {
      resizeterm(Int32(grid.height), Int32(grid.width))
      erase()
      redraw()
    }
    for row in 0..<grid.height { put(grid, row) }
    shown = grid
    pinna_screen_update()
    return written()
  }

  /// Has the next frame drawn from nothing.
  func redraw() { pinna_screen_redraw() }

  /// The bytes that give the terminal back.
  func farewell() -> [UInt8] {
    endwin()
    return written()
  }

  /// Puts runs of one style.
  private func put(_ grid: Grid, _ row: Int) {
    var column = 0
    while column < grid.width {
      let style = grid[row, column].style
      let start = column
      var text: [wchar_t] = []
      while column < grid.width, grid[row, column].style == style {
        let scalar = grid[row, column].scalar
        if scalar != Cell.continuation { text.append(wchar_t(bitPattern: scalar.value)) }
        column += 1
      }
      apply(style)
      pinna_screen_put(Int32(row), Int32(start), text, Int32(text.count))
    }
  }

  private func apply(_ style: Style) {
    let isBold = [.strong, .alarm, .alarmBlock].contains(style) || !hasColours && style == .goodBlock
    let isReverse = style == .selected || !hasColours && [.alarmBlock, .cautionBlock].contains(style)
    pinna_screen_style(isBold, style == .dim, isReverse, hasColours ? Self.pairs[style] ?? 0 : 0)
  }

  /// As `pinna_screen_colours` numbers them: 1 to 7 are ANSI's colours.
  private static let pairs: [Style: Int16] = [
    .alarm: 1, .good: 2, .caution: 3, .info: 6, .alarmBlock: 8, .cautionBlock: 9, .goodBlock: 10,
  ]

  /// Takes what curses wrote out of its file.
  private func written() -> [UInt8] {
    let size = Int(lseek(file, 0, SEEK_END))
    guard size > 0 else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
      count = max(0, pread(file, bytes.baseAddress, size, 0))
    }
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
    return bytes
  }
}
