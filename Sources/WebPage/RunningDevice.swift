import Acoustics
import Messages
import Plots
import Presets
import Settings

/// The device that the running Pinna plays, read from its file, and what a feed plays of it.
///
/// Thread: any that may wait for Pinna and the disk.
package struct RunningDevice: Sendable {
  package let device: Device
  package let status: StatusReport
  package let feed: FeedReport

  /// - Parameters:
  ///   - deviceFile: the file of `pinna run --device`; nil without it.
  ///   - name: of the feed.
  /// - Throws: `Failure`, or what reading the device throws.
  init(_ client: ControlClient, deviceFile: String?, feed name: String) throws {
    status = try client.request(OSCMessage("/pinna/status"), seconds: 5).document(StatusReport.self)
    guard let feed = status.allFeeds.first(where: { $0.name == name }) else {
      throw Failure(.usage, "there is no such feed any more; choose another")
    }
    self.feed = feed
    device = try Self.device(status.device, preset: status.preset, deviceFile, in: .standard)
  }

  private static func device(
    _ name: String, preset: String, _ deviceFile: String?, in library: PresetLibrary
  ) throws -> Device {
    var candidates: [Device] = []
    if let deviceFile, let given = try? library.device(path: deviceFile) {
      candidates = [given] + given.inputs
    }
    if let preset = try? library.preset(named: preset), let own = try? library.device(named: preset.device) {
      candidates += [own] + own.inputs
    }
    return try candidates.first { $0.name == name } ?? library.device(named: name)
  }

  private struct Document: Encodable {
    let title: String
    /// Names.
    let microphones: [String]
    /// Whether elevations can be told from each other.
    let hasHeight: Bool
    /// A drawing and its caption, in HTML.
    let picture: String
    /// How far a degree of roll turns the device in the drawing, clockwise: 1, -1, or 0 where roll is not seen.
    let clockwise: Int
    /// How it can be held.
    let orientations: [InputOrientation]
  }

  /// What a page shows of the device.
  ///
  /// - Throws: if the device has no such data source.
  func document() throws -> PageResponse {
    let names = device.microphones.map(\.name)
    let source = try device.dataSource(named: feed.selection.dataSource)
    let plot = PositionPlot(
      held: device, source, feed.selection.inputOrientation,
      isStereo: layout != nil,
      failed: Set(status.mutedMicrophones + (status.fallback?.missing.map(\.name) ?? [])))
    let description = "\(device.title), \(caption). Microphones: \(names.joined(separator: ", "))."
    let picture = """
      \(plot.markup(description: description))
      <p class="detail">\((caption.prefix(1).uppercased() + caption.dropFirst() + ".").escapedForHTML)</p>
      """
    let towards = device.view(held: feed.selection.inputOrientation).towardsViewer(source.forward)
    return .document(
      json(
        Document(
          title: device.title, microphones: names,
          hasHeight: device.hasHeight(along: device.frame(of: source, feed.selection.inputOrientation).up),
          picture: picture,
          clockwise: towards < -0.87 ? 1 : towards > 0.87 ? -1 : 0,
          orientations: device.placement.orientations))
    )
  }

  private var layout: StereoLayout? { feed.selection.layout(on: device) }

  private var caption: String {
    let edge =
      switch feed.selection.inputOrientation {
      case .portrait: "top"
      case .portraitUpsideDown: "bottom"
      case .landscapeLeft: "left edge"
      case .landscapeRight: "right edge"
      }
    let isAbove = device.view(held: feed.selection.inputOrientation).viewpoint == .above
    let view = isAbove ? "seen from above" : "held with its \(edge) up"
    guard let words = layout?.words else { return view + "; this pattern has no left and right" }
    return "\(view); left is \(words.left), right is \(words.right)"
  }
}
