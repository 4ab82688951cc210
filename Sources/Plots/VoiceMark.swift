/// The marks of voices in a top view. Right, weak and wrong differ in shape, in the sign within, and in colour.
enum VoiceMark {
  static let ringRadius = 10.0

  static func colour(_ verdict: TopViewPlot.Voice.Verdict) -> PlotColour {
    switch verdict {
    case .right: .blue
    case .weak: .purple
    case .wrong: .orange
    }
  }

  /// Where a voice should be.
  static func ring(on canvas: any Canvas, at centre: SIMD2<Double>, _ colour: PlotColour = .black) {
    canvas.circle(centre, radius: ringRadius, colour, width: 1.6)
  }

  /// Where a voice came out: a disc with a tick, a triangle with a bar, or a diamond with a cross.
  static func draw(
    _ verdict: TopViewPlot.Voice.Verdict, on canvas: any Canvas, at centre: SIMD2<Double>, radius: Double
  ) {
    func sign(_ points: [SIMD2<Double>]) {
      canvas.stroke(points.map { centre + radius * $0 }, .white, width: 1.5)
    }
    switch verdict {
    case .right:
      canvas.disc(centre, radius: radius, .blue)
      sign([[-0.45, 0.05], [-0.1, 0.4], [0.5, -0.35]])
    case .weak:
      canvas.polygon(
        [[0, -1.4], [1.25, 0.8], [-1.25, 0.8]].map { (corner: SIMD2<Double>) in centre + radius * corner },
        .purple)
      sign([[0, -0.6], [0, 0.5]])
    case .wrong:
      canvas.polygon(
        [[0, -1.5], [1.5, 0], [0, 1.5], [-1.5, 0]].map { (corner: SIMD2<Double>) in
          centre + radius * corner
        }, .orange)
      sign([[-0.45, -0.45], [0.45, 0.45]])
      sign([[0.45, -0.45], [-0.45, 0.45]])
    }
  }

  /// A line from where a voice should be to where it came out, with an arrowhead. A long one makes a bow to its right,
  /// so that it runs beside the listener and two voices that changed places have two lines.
  static func line(
    on canvas: any Canvas, from start: SIMD2<Double>, to end: SIMD2<Double>, isBent: Bool,
    _ colour: PlotColour
  ) {
    let across: SIMD2<Double> = [-(end - start).y, (end - start).x]
    let control = (start + end) / 2 + (isBent ? 0.75 : 0) * across
    let points = (0...24).map { n -> SIMD2<Double> in
      let t = Double(n) / 24
      return (1 - t) * (1 - t) * start + 2 * t * (1 - t) * control + t * t * end
    }
    let shown = points.filter {
      $0.distance(to: start) >= ringRadius && $0.distance(to: end) >= ringRadius
    }
    canvas.stroke(shown, colour, width: 1.8)
    guard let tip = shown.last, shown.count > 1 else { return }
    let along = (end - tip) / max(1e-9, end.distance(to: tip))
    let side: SIMD2<Double> = [-along.y, along.x]
    canvas.polygon([tip + 3 * along, tip - 5 * along + 4 * side, tip - 5 * along - 4 * side], colour)
  }
}

extension SIMD2<Double> {
  func distance(to other: Self) -> Double {
    let gap = self - other
    return (gap * gap).sum().squareRoot()
  }
}
