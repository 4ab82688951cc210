extension StereoLayout {
  /// A plain-text picture of the device as somebody facing its screen sees it, held in `orientation`, with L and R at
  /// the edges that the left and right outputs represent (S14). Each element is one line.
  ///
  /// ```
  ///      top
  ///     ┌─────┐
  /// left│L   R│right
  ///     └─────┘
  ///     bottom
  /// ```
  public func picture(held orientation: InputOrientation) -> [String] {
    func mark(_ edge: DeviceEdge) -> String { edge == left ? "L" : edge == right ? "R" : " " }
    // The device's edges in clockwise order, starting with the one seen at the top.
    let (above, toTheRight, below, toTheLeft): (DeviceEdge, DeviceEdge, DeviceEdge, DeviceEdge) =
      switch orientation {
      case .portrait: (.top, .right, .bottom, .left)
      case .portraitUpsideDown: (.bottom, .left, .top, .right)
      case .landscapeRight: (.right, .bottom, .left, .top)
      case .landscapeLeft: (.left, .top, .right, .bottom)
      }
    let isUpright = [.portrait, .portraitUpsideDown].contains(orientation)
    let (width, height) = isUpright ? (7, 5) : (13, 3)
    let margin = String(repeating: " ", count: 7)
    func centred(_ text: String) -> String {
      let before = (width - text.count) / 2
      return String(repeating: " ", count: before) + text
        + String(repeating: " ", count: width - text.count - before)
    }
    func padded(_ text: String) -> String { String(margin.dropLast(text.count)) + text }
    let edge = String(repeating: "─", count: width)
    var lines = [margin + " " + centred(above.rawValue), margin + "┌" + edge + "┐"]
    for row in 0..<height {
      var inside = String(repeating: " ", count: width)
      if row == height / 2 {
        inside = mark(toTheLeft) + String(repeating: " ", count: width - 2) + mark(toTheRight)
      } else if row == 0 {
        inside = centred(mark(above))
      } else if row == height - 1 {
        inside = centred(mark(below))
      }
      let isMiddle = row == height / 2
      lines.append(
        (isMiddle ? padded(toTheLeft.rawValue) : margin) + "│" + inside + "│"
          + (isMiddle ? toTheRight.rawValue : ""))
    }
    lines += [margin + "└" + edge + "┘", margin + " " + centred(below.rawValue)]
    return lines.map { line in
      var line = line
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
