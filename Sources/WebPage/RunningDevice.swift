import Acoustics
import Messages
import Presets

/// The device that the running Pinna plays, read from its file.
///
/// Thread: any that may wait for Pinna and the disk.
package struct RunningDevice: Sendable {
  package let device: Device
  package let status: StatusReport

  /// - Parameter deviceFile: the file of `pinna run --device`; nil without it.
  /// - Throws: `Failure`, or what reading the device throws.
  init(_ client: ControlClient, deviceFile: String?) throws {
    status = try client.request(OSCMessage("/pinna/status"), seconds: 5).document(StatusReport.self)
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

  /// The device as pages draw it: in millimetres, in the device frame (x to the right, y up, z towards the viewer).
  private struct Drawing: Encodable {
    /// As the page looks at the device: a table device from above, with its front at the bottom; others from the front.
    struct Outline: Encodable {
      var radius: Double?
      /// Width and height.
      var size: [Double]?
    }
    struct Point: Encodable {
      let name: String
      let channel: Int
      let position: [Double]
    }
    struct Source: Encodable {
      let name: String
      let forward: [Double]
    }
    let name: String
    let title: String
    let placement: String
    /// Nil for a body whose shape is unknown.
    let outline: Outline?
    let microphones: [Point]
    let dataSources: [Source]
  }

  var drawing: PageResponse {
    func list(_ vector: SIMD3<Double>) -> [Double] {
      [vector.x, vector.y, vector.z].map { ($0 * 1000).rounded() / 1000 }
    }
    let isTable = device.placement == .table
    let outline = device.outline(right: [isTable ? -1 : 1, 0, 0], up: isTable ? [0, 0, 1] : [0, 1, 0])
    let drawn: Drawing.Outline? =
      switch outline?.scaled(by: 1000) {
      case .circle(let radius): .init(radius: radius)
      case .rectangle(let size): .init(size: [size.x, size.y].map { ($0 * 1000).rounded() / 1000 })
      case nil: nil
      }
    return .document(
      json(
        Drawing(
          name: device.name, title: device.title, placement: device.placement.rawValue, outline: drawn,
          microphones: zip(device.microphones, device.captureChannels).map {
            .init(name: $0.name, channel: $1, position: list(1000 * $0.position))
          },
          dataSources: device.dataSources.map { .init(name: $0.name, forward: list($0.forward.vector)) })))
  }
}
