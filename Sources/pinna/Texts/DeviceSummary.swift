import Acoustics
import Messages
import Text

/// What `pinna device check` prints about a device file.
struct DeviceSummary {
  let device: Device

  var text: String {
    let geometry = [device.geometry?.origin, device.geometry?.omission].compactMap { $0.map { "\n  " + $0 } }
    let heading = """
      \(device.name): \(device.title)
        placement: \(device.placement.rawValue), body: \(body)
        \(device.microphones.count == 1 ? "1 microphone" : "\(device.microphones.count) microphones"), \(vector(extentInFile)) mm along x, y and z of the file
      """
    let lines = [heading + geometry.joined()] + microphones + sources
    return (lines + (device.placementAdvice.map { ["  hint: \($0)"] } ?? [])).joined(separator: "\n")
  }

  var json: JSONObject {
    [
      "device": device.name, "title": device.title, "placement": device.placement.rawValue, "body": body,
      "extent": numbers(extentInFile),
      "microphones": zip(device.microphones, device.captureChannels).map { microphone, channel in
        [
          "name": microphone.name, "channel": channel,
          "position": numbers(device.placement.turned(microphone.position)),
        ] as JSONObject
      },
      "stereo": device.dataSources.flatMap { source in
        layouts(of: source).map {
          [
            "dataSource": source.name, "inputOrientation": $0.orientation.rawValue, "left": $0.left,
            "right": $0.right,
          ] as JSONObject
        }
      },
      "hint": device.placementAdvice,
    ]
  }

  private var body: String { device.body.shape.phrase(device.placement) }

  private var microphones: [String] {
    let width = device.microphones.map(\.name.count).max() ?? 0
    let channels = device.hardware.map { " of \($0.channels)" } ?? ""
    return zip(device.microphones, device.captureChannels).map { microphone, channel in
      let place =
        "[\(numbers(device.placement.turned(microphone.position)).map { text($0) }.joined(separator: ", "))] mm"
      let capsule = microphone.capsule == nil ? "" : ", directional"
      return "    \(microphone.name.padded(width))  channel \(channel)\(channels)  \(place)\(capsule)"
    }
  }

  private var sources: [String] {
    device.dataSources.flatMap { source in
      ["  \(source.name): \(source.polarPatterns.map(\.rawValue).joined(separator: ", "))"]
        + layouts(of: source).map {
          "    \($0.orientation.rawValue): left is \($0.left); right is \($0.right)"
        }
    }
  }

  /// What left and right are, in each orientation in which `source` offers stereo.
  private func layouts(of source: DataSource) -> [(
    orientation: InputOrientation, left: String, right: String
  )] {
    source.stereoOrientations.compactMap { orientation in
      HeadFrame(forward: source.forward, orientation: orientation).map { frame in
        let words = device.layout(frame).words
        return (orientation, words.left, words.right)
      }
    }
  }

  private var extentInFile: SIMD3<Double> { absolute(device.placement.turned(device.extent)) }

  private func absolute(_ vector: SIMD3<Double>) -> SIMD3<Double> {
    [abs(vector.x), abs(vector.y), abs(vector.z)]
  }

  /// Millimetres with one digit.
  private func numbers(_ metres: SIMD3<Double>) -> [Double] {
    [metres.x, metres.y, metres.z].map { ($0 * 10_000).rounded() / 10 + 0 }
  }

  private func text(_ number: Double) -> String {
    number.plain
  }

  private func vector(_ metres: SIMD3<Double>) -> String {
    numbers(metres).map(text).joined(separator: " × ")
  }
}
