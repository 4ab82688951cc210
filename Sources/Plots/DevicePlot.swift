import Acoustics

extension PositionPlot {
  /// A device from the front and from above, with capture channels. Forward, left and right are those of its first data
  /// source that offers stereo, or of the first.
  public init(_ device: Device) {
    let source = device.dataSources.first { !$0.stereoOrientations.isEmpty } ?? device.dataSources[0]
    let orientation = source.stereoOrientations.first ?? .portrait
    let frame = HeadFrame(forward: source.forward, orientation: orientation)
    let stereo = frame == nil ? "" : ", left and right in \(orientation.rawValue)"
    let drawing = DeviceDrawing(forward: source.forward, frame: frame)
    let isTable = device.placement == .table
    let above = device.viewFromAbove()
    let front = drawing.view(
      isTable ? "Seen from the front: the drawing's top" : "Seen from the front", device.viewFromFront())
    let place = above.up.z < 0 ? "below" : "above"
    let top = drawing.view(
      isTable ? "Seen from above, as in the file" : "Seen from above: its front is \(place)", above)
    self.init(
      PlotTitle(
        "\(device.name): \(device.title)",
        "Numbers are capture channels. Forward is that of \(source.name)\(stereo)."),
      views: isTable ? [top, front] : [front, top])
  }

  /// A device as a running Pinna's page shows it, with the edges that name its sides.
  /// - Parameters:
  ///   - isStereo: whether there are a left and a right: L and R.
  ///   - failed: names of microphones, which are red.
  public init(
    held device: Device, _ source: DataSource, _ orientation: InputOrientation, isStereo: Bool,
    failed: Set<String>
  ) {
    let frame = isStereo ? HeadFrame(forward: source.forward, orientation: orientation) : nil
    let drawing = DeviceDrawing(forward: source.forward, frame: frame, isHeld: true, failed: failed)
    let view = device.view(held: orientation)
    self.init(
      PlotTitle(device.title, ""),
      views: [drawing.view(view.viewpoint == .above ? "Seen from above" : "Seen from the front", view)],
      hasHeader: false, textScale: 1.45)
  }
}

/// What all views of a device show: its microphones and outline, forward, left and right.
private struct DeviceDrawing {
  /// Above this number of microphones only their channels are written beside them.
  private static let mostNames = 20

  let forward: Direction
  /// Nil without left and right.
  let frame: HeadFrame?
  /// Whether edges are named, and microphones without their channels.
  var isHeld = false
  var failed: Set<String> = []

  func view(_ title: String, _ view: DeviceView) -> PositionPlot.View {
    let device = view.device
    /// Nil for a direction that points at the viewer or away.
    func side(_ label: String, _ direction: Direction?, _ colour: PlotColour) -> PositionPlot.View.Side? {
      direction.flatMap { view.project($0) }.map { .init(label, $0, colour) }
    }
    let points = zip(device.microphones, device.captureChannels).map { microphone, channel in
      PositionPlot.View.Point(
        label(microphone.name, channel, of: device), 1000 * view.project(microphone.position),
        isFailed: failed.contains(microphone.name))
    }
    let towards = view.towardsViewer(forward)
    return PositionPlot.View(
      title, points: isHeld ? points : points.merged, outline: view.outline?.scaled(by: 1000),
      sides: [
        side("forward", forward, .black), side(isHeld ? "L" : "left", frame?.left, .blue),
        side(isHeld ? "R" : "right", frame?.right, .orange),
      ].compactMap(\.self),
      edges: isHeld ? view.edges.map { .init($0.edge.rawValue, $0.direction, .grey) } : [],
      note: abs(towards) < 0.87 ? "" : "forward points \(towards > 0 ? "towards" : "away from") you")
  }

  private func label(_ name: String, _ channel: Int, of device: Device) -> String {
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
