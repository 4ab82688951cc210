import Acoustics
import Glibc

extension MonitorView {
  /// The device from above, in a frame: microphones with the numbers of their meters, L, R and forward around it.
  mutating func drawPicture(_ rows: Range<Int>, _ columns: Range<Int>) {
    guard rows.count >= 5, let status = model.status else { return }
    guard let picture = model.picture else {
      grid.put(
        rows.lowerBound + 1, columns.lowerBound, "no picture of \(status.device)", .dim, limit: columns.count)
      return
    }
    let feed = model.feed ?? status.allFeeds[0]
    let view = picture.view(
      dataSource: feed.selection.dataSource, orientation: feed.selection.inputOrientation,
      isStereo: feed.selection.polarPattern == .stereo, pose: feed.selection.pose(with: status.tracker))
    // L, R and forward stand on an edge around the device.
    let inner = rows.lowerBound + 1..<rows.upperBound - 2
    let body = columns.lowerBound + 9..<columns.upperBound - 9
    let place = placement(view, inner, body)
    let frame = drawOutline(view.outline, place, inner)
    drawPoints(view, place, within: frame, columns)
    drawDirections(view, rows, columns, below: view.bottomEdge == nil ? nil : frame?.upperBound)
    if let edge = view.bottomEdge, let frame {
      grid.put(frame.upperBound + 1, body.lowerBound + (body.count - edge.count) / 2, edge, .dim)
    }
  }

  private typealias Place = (SIMD2<Double>) -> (row: Int, column: Int)

  /// From metres to cells, which are twice as high as wide.
  private func placement(_ view: Picture.View, _ rows: Range<Int>, _ columns: Range<Int>) -> Place {
    var reach = SIMD2(1e-3, 1e-3)
    for point in view.points { reach = pointwiseMax(reach, pointwiseMax(point.place, -point.place)) }
    switch view.outline {
    case .rectangle(let size): reach = pointwiseMax(reach, size / 2)
    case .circle(let radius): reach = pointwiseMax(reach, [radius, radius])
    case nil: break
    }
    let scale = min(Double(columns.count - 1) / reach.x, 2 * Double(rows.count - 1) / reach.y) / 2
    let middle = (
      Double(rows.lowerBound + rows.upperBound - 1) / 2,
      Double(columns.lowerBound + columns.upperBound - 1) / 2
    )
    return { place in
      (Int((middle.0 - place.y * scale / 2).rounded()), Int((middle.1 + place.x * scale).rounded()))
    }
  }

  /// - Returns: the rows of a box; nil for other outlines.
  private mutating func drawOutline(
    _ outline: BodyOutline?, _ place: Place, _ rows: Range<Int>
  ) -> ClosedRange<Int>? {
    switch outline {
    case .rectangle(let size):
      var (top, left) = place([-size.x / 2, size.y / 2])
      var (bottom, right) = place([size.x / 2, -size.y / 2])
      // A thin device keeps a row between its edges, for its microphones.
      if bottom - top < 2 {
        top = max(rows.lowerBound, (top + bottom) / 2 - 1)
        bottom = top + 2
      }
      if right - left < 4 { (left, right) = (left - 2, right + 2) }
      for column in left...right {
        grid.set(top, column, "─", .dim)
        grid.set(bottom, column, "─", .dim)
      }
      for row in top...bottom {
        grid.set(row, left, "│", .dim)
        grid.set(row, right, "│", .dim)
      }
      grid.set(top, left, "┌", .dim)
      grid.set(top, right, "┐", .dim)
      grid.set(bottom, left, "└", .dim)
      grid.set(bottom, right, "┘", .dim)
      return top...bottom
    case .circle(let radius):
      for step in 0..<72 {
        let angle = Double(step) / 36 * .pi
        let (row, column) = place([radius * cos(angle), radius * sin(angle)])
        grid.set(row, column, "·", .dim)
      }
    case nil: break
    }
    return nil
  }

  /// A microphone is shown by its number. Those above each other, or too near for numbers of their own, share a place: "3,5".
  /// Where there are too many, each is a dot.
  /// - Parameters:
  ///   - frame: the rows of the device's box, between whose edges its microphones are.
  ///   - columns: of the picture.
  private mutating func drawPoints(
    _ view: Picture.View, _ place: Place, within frame: ClosedRange<Int>?, _ columns: Range<Int>
  ) {
    let names = (model.levels?.microphones ?? []).map(\.name)
    let numbers = Dictionary(zip(names, 1...), uniquingKeysWith: { first, _ in first })
    let spots = view.points.map { point in
      var (row, column) = place(point.place)
      if let frame, frame.count > 2 { row = min(max(row, frame.lowerBound + 1), frame.upperBound - 1) }
      return Label(
        row: row, room: columns,
        microphones: [Label.Microphone(name: point.name, number: numbers[point.name], column: column)])
    }
    var labels: [Label] = []
    for var spot in spots.sorted(by: { ($0.row, $0.cells.lowerBound) < ($1.row, $1.cells.lowerBound) }) {
      // A joined label may reach the one before it.
      while let last = labels.last, last.touches(spot) { spot = labels.removeLast().joined(with: spot) }
      labels.append(spot)
    }
    for label in labels { draw(label) }
  }

  private mutating func draw(_ label: Label) {
    let missing = model.status?.fallback?.missing.map(\.name) ?? []
    var column = label.cells.lowerBound
    for (index, microphone) in label.microphones.enumerated() {
      let style: Style =
        missing.contains(microphone.name)
        ? .alarmBlock : model.status?.listening == microphone.name ? .cautionBlock : .strong
      guard let number = microphone.number, label.isReadable else {
        grid.set(label.row, microphone.column, "•", style)
        continue
      }
      if index > 0 {
        grid.put(label.row, column, ",", .strong)
        column += 1
      }
      grid.put(label.row, column, String(number), style)
      column += String(number).count
    }
  }

  /// Microphones at one place of the picture.
  private struct Label {
    struct Microphone {
      let name: String
      /// That of its meter; nil before levels are known.
      let number: Int?
      let column: Int
    }

    let row: Int
    /// The picture's columns.
    let room: Range<Int>
    /// In the order of their numbers.
    let microphones: [Microphone]

    private var columns: Set<Int> { Set(microphones.map(\.column)) }
    private var text: String { microphones.map { $0.number.map(String.init) ?? "" }.joined(separator: ",") }
    /// Whether every microphone has a number, and all fit near their places. Otherwise each is a dot.
    var isReadable: Bool {
      microphones.allSatisfy { $0.number != nil } && columns.count <= 3
        && numbersCells.clamped(to: room) == numbersCells
    }
    /// Numbers stand around the middle of their columns.
    private var numbersCells: Range<Int> {
      let start = (columns.min()! + columns.max()!) / 2 - (text.count - 1) / 2
      return start..<start + text.count
    }
    /// What it covers.
    var cells: Range<Int> { isReadable ? numbersCells : columns.min()!..<columns.max()! + 1 }

    /// Whether no cell would be free between the two: 1 and 2 would read as 12.
    func touches(_ next: Label) -> Bool {
      row == next.row && cells.upperBound >= next.cells.lowerBound
        && !(isDot && next.isDot && columns.isDisjoint(with: next.columns))
    }

    private var isDot: Bool { microphones.allSatisfy { $0.number == nil } }

    func joined(with other: Label) -> Label {
      Label(
        row: row, room: room,
        microphones: (microphones + other.microphones).sorted {
          ($0.number ?? 0, $0.column) < ($1.number ?? 0, $1.column)
        })
    }
  }

  /// L, R and forward, where they are seen from above.
  /// - Parameter bottom: the last row of a device's box, below which stands its edge's name; nil for none.
  private mutating func drawDirections(
    _ view: Picture.View, _ rows: Range<Int>, _ columns: Range<Int>, below bottom: Int?
  ) {
    let edge = (
      rows: rows.lowerBound...rows.upperBound - 2, columns: columns.lowerBound...columns.upperBound - 1
    )
    @discardableResult
    func mark(
      _ text: String, _ direction: SIMD2<Double>, _ style: Style, reach: Double = 1
    ) -> (row: Int, column: Int) {
      let half = SIMD2(Double(edge.columns.count - 1) / 2, Double(edge.rows.count - 1) / 2)
      // To the edge of the panel, or less far.
      let size = pointwiseMax(direction, -direction)
      let stretch = reach / max(size.x, size.y)
      let column = Double(edge.columns.lowerBound) + half.x * (1 + direction.x * stretch)
      let row = Double(edge.rows.lowerBound) + half.y * (1 - direction.y * stretch)
      let start = Int((column - Double(text.cells - 1) / 2).rounded())
      let limits = (edge.columns.lowerBound, edge.columns.upperBound - text.cells + 1)
      var place = (row: Int(row.rounded()), column: min(max(start, limits.0), limits.1))
      // The edge's name has a row of its own.
      if let bottom, place.row == bottom + 1, place.row + 1 < rows.upperBound { place.row += 1 }
      grid.put(place.row, place.column, text, style)
      return place
    }
    if let forward = view.forward { mark(arrow(forward), forward, .good) }
    for talker in model.status?.talkers ?? [] where talker.isActive {
      guard let main = model.status?.allFeeds.first,
        let place = model.picture?.talker(
          azimuth: talker.azimuth, dataSource: main.selection.dataSource,
          orientation: main.selection.inputOrientation, pose: main.selection.pose, on: view)
      else { break }
      mark("●\(talker.identity)", place, .good, reach: 0.8)
    }
    let layout = model.status?.layout
    func mark(_ text: String, _ direction: SIMD2<Double>?, _ deviceEdge: DeviceEdge?) {
      guard let direction else { return }
      let place = mark(text, direction, .selected)
      // The name of the device's edge, where it has edges, and there is a margin for it.
      guard let deviceEdge, layout?.sides == nil, abs(direction.x) > abs(direction.y) else { return }
      let name = deviceEdge.rawValue
      grid.put(place.row + 1, min(place.column, edge.columns.upperBound - name.cells + 1), name, .dim)
    }
    mark(" L ", view.left, layout?.left)
    mark(" R ", view.right, layout?.right)
    if view.forward == nil {
      grid.put(rows.lowerBound, columns.lowerBound, "forward is up or down", .dim)
    }
  }

  private func arrow(_ direction: SIMD2<Double>) -> String {
    if abs(direction.x) > abs(direction.y) { return direction.x > 0 ? "forward →" : "← forward" }
    return direction.y > 0 ? "↑ forward" : "↓ forward"
  }
}
