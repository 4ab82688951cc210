extension Canvas {
  /// Draws title, subtitle and a legend with one entry per distinct combination of label, colour and dashing.
  func header(_ title: PlotTitle, curves: [Curve]) {
    text(title.title, at: [PlotLayout.margin, 34], size: 15, isBold: true)
    text(title.subtitle, at: [PlotLayout.margin, 51], size: 10, .grey)
    var x = PlotLayout.margin
    for curve in curves.distinctEntries {
      stroke([[x, 68], [x + 22, 68]], curve.colour, width: curve.width, isDashed: curve.isDashed)
      text(curve.label, at: [x + 27, 68], anchor: [0, 0.5], size: 9.5)
      x += 27 + width(of: curve.label, size: 9.5) + 20
    }
  }
}

extension [Curve] {
  /// One curve per distinct combination of label, colour and dashing, without those that have no label.
  var distinctEntries: [Curve] {
    var entries: [Curve] = []
    for curve in self where !curve.label.isEmpty {
      let isKnown = entries.contains {
        $0.label == curve.label && $0.colour == curve.colour && $0.isDashed == curve.isDashed
      }
      if !isKnown { entries.append(curve) }
    }
    return entries
  }
}
