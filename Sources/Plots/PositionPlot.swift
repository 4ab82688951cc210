import Acoustics

/// Labelled points to scale, such as the microphones of an array, in several views side by side.
public struct PositionPlot: Plot {
  /// Positions are in millimetres, x to the right and y up on the page, relative to the middle of the view.
  public struct View: Sendable {
    public struct Point: Sendable {
      public let label: String
      public let position: SIMD2<Double>
      /// Such as a microphone that no longer works. Drawn in red, above the others.
      public let isFailed: Bool

      public init(_ label: String, _ position: SIMD2<Double>, isFailed: Bool = false) {
        self.label = label
        self.position = position
        self.isFailed = isFailed
      }
    }

    /// A word at the rim of the view, with an arrow that points there from the middle.
    public struct Side: Sendable {
      public let label: String
      /// Of length 1.
      public let direction: SIMD2<Double>
      public let colour: PlotColour

      public init(_ label: String, _ direction: SIMD2<Double>, _ colour: PlotColour) {
        self.label = label
        self.direction = direction
        self.colour = colour
      }
    }

    public let title: String
    public let points: [Point]
    public let outline: BodyOutline?
    public let sides: [Side]
    /// Words without an arrow, beside the outline.
    public let edges: [Side]
    /// A line below the view, such as "forward points towards you".
    public let note: String

    public init(
      _ title: String, points: [Point], outline: BodyOutline?, sides: [Side], edges: [Side] = [],
      note: String = ""
    ) {
      self.title = title
      self.points = points
      self.outline = outline
      self.sides = sides
      self.edges = edges
      self.note = note
    }

    /// Half of the extent, in millimetres: that of the outline and of all points.
    fileprivate var reach: SIMD2<Double> {
      let body: SIMD2<Double> =
        switch outline {
        case nil: [1, 1]
        case .circle(let radius): [radius, radius]
        case .rectangle(let size): size / 2
        }
      return points.reduce(body) { pointwiseMax($0, pointwiseMax($1.position, -$1.position)) }
    }
  }

  public let title: PlotTitle
  public let views: [View]
  private let hasHeader: Bool
  /// Larger text, for a page that shows the views smaller.
  private let textScale: Double

  private static let width = 380.0
  /// Of the square in which points and outline are drawn.
  private static let side = 220.0
  private static let height = 412.0

  /// - Parameter hasHeader: false draws the views alone.
  public init(_ title: PlotTitle, views: [View], hasHeader: Bool = true, textScale: Double = 1) {
    self.hasHeader = hasHeader
    self.textScale = textScale
    self.title = title
    self.views = views
  }

  /// Each view as a plot of its own, without header.
  public var separateViews: [PositionPlot] {
    views.map { PositionPlot(title, views: [$0], hasHeader: false) }
  }

  private var top: Double { hasHeader ? PlotLayout.headerHeight - 20 : 0 }

  package var size: SIMD2<Double> {
    [
      Double(views.count) * Self.width + PlotLayout.margin,
      top + Self.height,
    ]
  }

  package func draw(on canvas: any Canvas) {
    if hasHeader { canvas.header(title, curves: []) }
    // One scale for all views, so that they can be compared.
    let scale = Self.side / 2 / max(1, views.map { $0.reach.max() }.max() ?? 1)
    for (n, view) in views.enumerated() {
      draw(
        view, on: canvas,
        corner: [PlotLayout.margin / 2 + Double(n) * Self.width, top], scale)
    }
  }

  /// - Parameter scale: points per millimetre.
  private func draw(_ view: View, on canvas: any Canvas, corner: SIMD2<Double>, _ scale: Double) {
    let middle = corner + [Self.width / 2, 30 + Self.side / 2 + 52]
    func place(_ position: SIMD2<Double>) -> SIMD2<Double> {
      middle + scale * SIMD2(position.x, -position.y)
    }
    canvas.text(
      view.title, at: corner + [Self.width / 2, 16], anchor: [0.5, 0.5], size: 11 * textScale, isBold: true)
    for axis in [SIMD2(1.0, 0.0), SIMD2(0.0, 1.0)] {
      canvas.stroke(
        [middle - 0.5 * Self.side * axis, middle + 0.5 * Self.side * axis], .lightGrey, width: 0.6)
    }
    let sides = drawSides(view.sides, on: canvas, middle)
    let room = corner.x - PlotLayout.margin / 2 + 2...corner.x + Self.width + PlotLayout.margin / 2 - 2
    canvas.device(around: middle) {
      draw(deviceOf: view, on: canvas, middle, place, avoiding: sides, within: room, scale)
    }
    drawScale(on: canvas, at: [middle.x, corner.y + Self.height - 42], scale)
    canvas.text(
      view.note, at: [middle.x, corner.y + Self.height - 12], anchor: [0.5, 0.5], size: 9 * textScale, .grey)
  }

  /// Draws outline, edges and points.
  /// - Parameters:
  ///   - place: from millimetres to the page.
  ///   - sides: the room that the words at the rim take.
  private func draw(
    deviceOf view: View, on canvas: any Canvas, _ middle: SIMD2<Double>,
    _ place: (SIMD2<Double>) -> SIMD2<Double>, avoiding sides: [LabelBox], within room: ClosedRange<Double>,
    _ scale: Double
  ) {
    switch view.outline {
    case nil: break
    case .circle(let radius): canvas.circle(middle, radius: scale * radius, .grey, width: 1.2)
    case .rectangle(let size):
      let half = size / 2
      let corners = [half, [half.x, -half.y], -half, [-half.x, half.y]]
      canvas.stroke(corners.map(place), .grey, width: 1.2, isClosed: true)
    }
    // Failed points last: no other disc covers them.
    let points = view.points.filter { !$0.isFailed } + view.points.filter(\.isFailed)
    let discs = points.map { place($0.position) }
    var taken = sides + drawEdges(of: view, around: discs, on: canvas, middle, scale)
    taken += discs.map { LabelBox(corner: $0 - 4, size: [8, 8]) }
    for (point, disc) in zip(points, discs) {
      canvas.disc(disc, radius: 3.4, point.isFailed ? .red : .green)
      let textSize = 8.5 * textScale
      let size: SIMD2<Double> = [canvas.width(of: point.label, size: textSize), 9 * textScale]
      let box = LabelBox.free(around: disc, size: size, avoiding: taken, within: room)
      if box.centre.distance(to: disc) > size.x / 2 + 12 {
        canvas.stroke([disc, box.centre], .lightGrey, width: 0.7)
      }
      canvas.text(
        point.label, at: box.centre, anchor: [0.5, 0.5], size: textSize, point.isFailed ? .red : .black,
        hasBackground: true)
      taken.append(box)
    }
  }

  /// Draws the words at the rim with their arrows.
  /// - Returns: the room that they take.
  private func drawSides(_ sides: [View.Side], on canvas: any Canvas, _ middle: SIMD2<Double>) -> [LabelBox] {
    sides.map { side in
      let onPage: SIMD2<Double> = [side.direction.x, -side.direction.y]
      let across: SIMD2<Double> = [-onPage.y, onPage.x]
      let tip = middle + (Self.side / 2 + 26) * onPage
      let tail = tip - 16 * onPage
      canvas.stroke([tail, tip], side.colour, width: 1.6)
      canvas.stroke(
        [tip - 5 * onPage + 3.5 * across, tip, tip - 5 * onPage - 3.5 * across], side.colour, width: 1.6)
      let size = 9.5 * textScale
      let half: SIMD2<Double> = [canvas.width(of: side.label, size: size, isBold: true) / 2, 0.63 * size]
      let centre = tip + onPage * (half + [6, 5])
      canvas.text(side.label, at: centre, anchor: [0.5, 0.5], size: size, isBold: true, side.colour)
      let ends = [centre - half, centre + half, tail - 5, tail + 5]
      let corner: SIMD2<Double> = [ends.map(\.x).min()!, ends.map(\.y).min()!]
      return LabelBox(corner: corner, size: [ends.map(\.x).max()!, ends.map(\.y).max()!] - corner)
    }
  }

  /// Draws the words beside the outline. They leave the middle to an arrow in their direction, and the edge to discs.
  /// - Returns: the room that they take.
  private func drawEdges(
    of view: View, around discs: [SIMD2<Double>], on canvas: any Canvas, _ middle: SIMD2<Double>,
    _ scale: Double
  ) -> [LabelBox] {
    let taken = discs.map { LabelBox(corner: $0 - 9, size: [18, 18]) }
    return view.edges.map { edge in
      let onPage: SIMD2<Double> = [edge.direction.x, -edge.direction.y]
      let across: SIMD2<Double> = [abs(onPage.y), -abs(onPage.x)]
      let hasArrow = view.sides.contains { ($0.direction * edge.direction).sum() > 0.9 }
      let size: SIMD2<Double> = [canvas.width(of: edge.label, size: 9 * textScale), 9 * textScale]
      let outwards: SIMD2<Double> = scale * view.reach + size / 2 + 5
      let aside: SIMD2<Double> = hasArrow ? size / 2 + 6 : .zero
      var box = LabelBox(corner: middle + onPage * outwards + across * aside - size / 2, size: size)
      while taken.contains(where: box.overlaps) { box = LabelBox(corner: box.corner + onPage, size: size) }
      canvas.text(edge.label, at: box.centre, anchor: [0.5, 0.5], size: 9 * textScale, edge.colour)
      return box
    }
  }

  /// A bar of a round length, with its length in millimetres.
  private func drawScale(on canvas: any Canvas, at centre: SIMD2<Double>, _ scale: Double) {
    let lengths: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    let length = lengths.last { $0 * scale <= 80 } ?? lengths[0]
    let half: SIMD2<Double> = [length * scale / 2, 0]
    let tick: SIMD2<Double> = [0, 3]
    canvas.stroke([centre - half, centre + half], .black, width: 1)
    for end in [centre - half, centre + half] { canvas.stroke([end - tick, end + tick], .black, width: 1) }
    canvas.text("\(Int(length)) mm", at: centre + [0, 7], anchor: [0.5, 0], size: 8.5 * textScale)
  }
}

/// The room of a label on the page, in points.
private struct LabelBox {
  let corner: SIMD2<Double>
  let size: SIMD2<Double>
  var centre: SIMD2<Double> { corner + size / 2 }

  func overlaps(_ other: LabelBox) -> Bool {
    corner.x < other.corner.x + other.size.x && other.corner.x < corner.x + size.x
      && corner.y < other.corner.y + other.size.y && other.corner.y < corner.y + size.y
  }

  /// The nearest free room for a label beside `point`; above it if none is free.
  /// - Parameter room: the columns of the page that it may cover.
  static func free(
    around point: SIMD2<Double>, size: SIMD2<Double>, avoiding taken: [LabelBox],
    within room: ClosedRange<Double>
  ) -> LabelBox {
    func box(_ direction: SIMD2<Double>, _ distance: Double) -> LabelBox {
      let offset: SIMD2<Double> = [
        direction.x * (size.x / 2 + distance), direction.y * (size.y / 2 + distance),
      ]
      return LabelBox(corner: point + offset - size / 2, size: size)
    }
    let directions: [SIMD2<Double>] = [
      [1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1],
    ]
    for distance in stride(from: 6.0, through: 66, by: 6) {
      for direction in directions {
        let candidate = box(direction, distance)
        let isWithin = room.contains(candidate.corner.x) && room.contains(candidate.corner.x + size.x)
        if isWithin, !taken.contains(where: candidate.overlaps) { return candidate }
      }
    }
    return box([0, -1], 6)
  }
}
