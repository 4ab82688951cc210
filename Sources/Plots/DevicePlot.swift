import Acoustics

extension PositionPlot {
  /// A device from the front and from above, with capture channels. Forward, left and right are those of its first data
  /// source that offers stereo, or of the first.
  public init(_ device: Device) {
    let source = device.dataSources.first { !$0.stereoOrientations.isEmpty } ?? device.dataSources[0]
    let orientation = source.stereoOrientations.first ?? .portrait
    let frame = HeadFrame(forward: source.forward, orientation: orientation)
    let stereo = frame == nil ? "" : ", left and right in \(orientation.rawValue)"
    let drawing = DeviceDrawing(device: device, forward: source.forward, frame: frame)
    let isTable = device.placement == .table
    self.init(
      PlotTitle(
        "\(device.name): \(device.title)",
        "Numbers are capture channels. Forward is that of \(source.name)\(stereo)."),
      views: [
        drawing.view(
          isTable ? "Seen from the front: the drawing's top" : "Seen from the front", right: [1, 0, 0],
          up: [0, 1, 0]),
        isTable
          ? drawing.view("Seen from above, as in the file", right: [-1, 0, 0], up: [0, 0, 1])
          : drawing.view("Seen from above: its front is below", right: [1, 0, 0], up: [0, 0, -1]),
      ])
  }

  /// A device as a running Pinna's page shows it, with its edges: on a table from above, otherwise from the front, as it is
  /// held.
  /// - Parameters:
  ///   - isStereo: whether there are a left and a right: L and R.
  ///   - failed: names of microphones, which are red.
  public init(
    held device: Device, _ source: DataSource, _ orientation: InputOrientation, isStereo: Bool,
    failed: Set<String>
  ) {
    let frame = isStereo ? HeadFrame(forward: source.forward, orientation: orientation) : nil
    let drawing = DeviceDrawing(
      device: device, forward: source.forward, frame: frame, isHeld: true, failed: failed)
    let up = orientation.up.vector
    let view =
      device.placement == .table
      ? drawing.view("Seen from above", right: [-1, 0, 0], up: [0, 0, 1])
      : drawing.view("Seen from the front", right: up.cross([0, 0, 1]), up: up)
    self.init(PlotTitle(device.title, ""), views: [view], hasHeader: false, textScale: 1.45)
  }
}

/// What all views of a device show: its microphones and outline, forward, left and right.
private struct DeviceDrawing {
  /// Above this number of microphones only their channels are written beside them.
  private static let mostNames = 20

  let device: Device
  let forward: Direction
  /// Nil without left and right.
  let frame: HeadFrame?
  /// Whether edges are named, and microphones without their channels.
  var isHeld = false
  var failed: Set<String> = []

  /// - Parameters:
  ///   - right, up: the directions of the device frame that point right and up on the page.
  func view(_ title: String, right: SIMD3<Double>, up: SIMD3<Double>) -> PositionPlot.View {
    func project(_ vector: SIMD3<Double>) -> SIMD2<Double> { [vector.dot(right), vector.dot(up)] }
    /// Nil for a direction that points at the viewer or away.
    func side(_ label: String, _ direction: Direction?, _ colour: PlotColour) -> PositionPlot.View.Side? {
      guard let onPage = direction.map({ project($0.vector) }) else { return nil }
      let length = (onPage * onPage).sum().squareRoot()
      return length > 0.5 ? .init(label, onPage / length, colour) : nil
    }
    let towards = forward.vector.dot(right.cross(up))
    let points = zip(device.microphones, device.captureChannels).map { microphone, channel in
      PositionPlot.View.Point(
        label(microphone.name, channel), 1000 * project(microphone.position),
        isFailed: failed.contains(microphone.name))
    }
    return PositionPlot.View(
      title, points: isHeld ? points : points.merged,
      outline: device.outline(right: right, up: up)?.scaled(by: 1000),
      sides: [
        side("forward", forward, .black), side(isHeld ? "L" : "left", frame?.left, .blue),
        side(isHeld ? "R" : "right", frame?.right, .orange),
      ].compactMap(\.self),
      edges: isHeld ? DeviceEdge.allCases.compactMap { side($0.rawValue, $0.direction, .grey) } : [],
      note: abs(towards) < 0.87 ? "" : "forward points \(towards > 0 ? "towards" : "away from") you")
  }

  private func label(_ name: String, _ channel: Int) -> String {
    device.microphones.count > Self.mostNames ? "\(channel)" : isHeld ? name : "\(channel) \(name)"
  }
}

extension [PositionPlot.View.Point] {
  /// Points at the same place on the page, within 0.5 mm, as one with all labels.
  fileprivate var merged: [PositionPlot.View.Point] {
    var groups: [[PositionPlot.View.Point]] = []
    for point in self {
      let same = groups.firstIndex { $0[0].position.distance(to: point.position) < 0.5 }
      if let same { groups[same].append(point) } else { groups.append([point]) }
    }
    return groups.map { group in
      let labels = group.map(\.label)
      let shown = labels.count > 3 ? labels.prefix(2) + ["… (\(labels.count))"] : labels[...]
      return .init(
        shown.joined(separator: ", "), group[0].position, isFailed: group.contains(where: \.isFailed))
    }
  }
}
