/// Rows of text in columns, each as wide as its longest cell and a gap, and at least as wide as asked for.
enum Columns {
  /// - Parameters:
  ///   - first, others: least widths of the first column and of the others.
  static func lines(_ rows: [[String]], first: Int = 0, others: Int = 0, gap: Int = 1) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      // A row of one cell is a heading, which may be as long as it likes.
      let cells = rows.filter { $0.count > max(1, column) }.map { $0[column].count + gap }
      return max(column == 0 ? first : others, cells.max() ?? 0)
    }
    return rows.map { row in
      String(zip(row, widths).map { $0.padded($1) }.joined().reversed().drop { $0 == " " }.reversed())
    }
  }
}
