import Acoustics
import Plots

/// A device as a picture: its microphones from the front and from above, with capture channels, forward, left and right.
struct DevicePicture {
  /// Above this number of microphones only their channels are written beside them.
  private static let mostNames = 20

  private let device: Device
  private let source: DataSource
  private let frame: HeadFrame?
  private let orientation: InputOrientation

  /// - Parameter device: forward, left and right are those of its first data source that offers stereo, or of the first.
  init(_ device: Device) {
    self.device = device
    source = device.dataSources.first { !$0.stereoOrientations.isEmpty } ?? device.dataSources[0]
    orientation = source.stereoOrientations.first ?? .portrait
    frame = HeadFrame(forward: source.forward, orientation: orientation)
  }

  /// Writes an SVG or PNG file, according to the extension of `path`.
  func write(_ path: String) throws { try plot.write(path) }

  var plot: PositionPlot {
    let stereo = frame == nil ? "" : ", left and right in \(orientation.rawValue)"
    return PositionPlot(
      PlotTitle(
        "\(device.name): \(device.title)",
        "Numbers are capture channels. Forward is that of \(source.name)\(stereo)."),
      views: [front, above]
    )
  }

  private var isTable: Bool { device.placement == .table }

  private var front: PositionPlot.View {
    view(
      isTable ? "Seen from the front: the drawing's top" : "Seen from the front", right: [1, 0, 0],
      up: [0, 1, 0])
  }

  private var above: PositionPlot.View {
    isTable
      ? view("Seen from above, as in the file", right: [-1, 0, 0], up: [0, 0, 1])
      : view("Seen from above: its front is below", right: [1, 0, 0], up: [0, 0, -1])
  }

  /// - Parameters:
  ///   - right, up: the directions of the device frame that point right and up on the page.
  private func view(
    _ title: String, right: SIMD3<Double>, up: SIMD3<Double>
  ) -> PositionPlot.View {
    func project(_ vector: SIMD3<Double>) -> SIMD2<Double> { [vector.dot(right), vector.dot(up)] }
    var sides: [PositionPlot.View.Side] = []
    func mark(_ label: String, _ direction: Direction, _ colour: PlotColour) {
      let onPage = project(direction.vector)
      let length = (onPage * onPage).sum().squareRoot()
      if length > 0.5 { sides.append(.init(label, onPage / length, colour)) }
    }
    mark("forward", source.forward, .green)
    if let frame {
      mark("left", frame.left, .orange)
      mark("right", frame.right, .orange)
    }
    let towards = source.forward.vector.dot(right.cross(up))
    let note = abs(towards) < 0.87 ? "" : "forward points \(towards > 0 ? "towards" : "away from") you"
    return PositionPlot.View(
      title, points: points.map { .init($0.label, 1000 * project($0.position)) }.merged,
      outline: device.outline(right: right, up: up)?.scaled(by: 1000), sides: sides, note: note)
  }

  private var points: [(label: String, position: Position)] {
    zip(device.microphones, device.captureChannels).map { microphone, channel in
      let name = device.microphones.count > Self.mostNames ? "" : " \(microphone.name)"
      return ("\(channel)\(name)", microphone.position)
    }
  }
}

extension [PositionPlot.View.Point] {
  /// Points at the same place on the page, within 0.5 mm, as one with all labels.
  fileprivate var merged: [PositionPlot.View.Point] {
    var groups: [(labels: [String], position: SIMD2<Double>)] = []
    for point in self {
      let same = groups.firstIndex {
        let gap = $0.position - point.position
        return (gap * gap).sum() < 0.25
      }
      if let same {
        groups[same].labels.append(point.label)
      } else {
        groups.append(([point.label], point.position))
      }
    }
    return groups.map { labels, position in
      let shown = labels.count > 3 ? labels.prefix(2) + ["… (\(labels.count))"] : labels[...]
      return .init(shown.joined(separator: ", "), position)
    }
  }
}
