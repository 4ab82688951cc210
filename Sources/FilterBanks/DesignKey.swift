import Acoustics
import AudioFiles
import FoundationEssentials
import HeadResponses
import Measurements

/// Everything that a design depends on, as one line of text and a hash of it. Equal keys mean equal filters.
package struct DesignKey: Sendable {
  /// Increment it with every change of method that changes the filters of a device whose `DesignParameters` stay the
  /// same.
  package static let designVersion = 9
  /// The same for B-format, whose designs alone have it in their keys; of rigid spheres, and of other bodies.
  package static let (ambisonicsVersionOfSpheres, ambisonicsVersion) = (3, 2)

  /// The values, separated by "; ".
  package let text: String

  /// - Parameter packagedHead: uses the known hash of the packaged HRTF file, without reading it. Banks that ship are
  ///   found under this key, even if that file is missing or another version.
  package init(device: Device, sampleRate: Int, packagedHead: Bool = false) {
    var parts = ["version \(Self.designVersion)", "rate \(sampleRate)"]
    // If a file cannot be read, the key is never used, because the design itself fails.
    parts.append(device.body.shape.key { ContentHash.ofFile($0) ?? "unreadable" })
    for (microphone, deviation) in zip(device.microphones, device.deviations) {
      let p = microphone.position
      parts.append("microphone \(microphone.name.debugDescription) \(p.x) \(p.y) \(p.z)")
      if let capsule = microphone.capsule {
        let f = capsule.facing.vector
        parts.append("capsule \(capsule.omnidirectionalPart) \(f.x) \(f.y) \(f.z)")
      }
      if deviation.delay != 0 { parts.append("late \(deviation.delay)") }
    }
    if let all = device.measuredMicrophones {
      parts.append("of measured \(all.map(\.name.debugDescription).joined(separator: ","))")
    }
    for source in device.dataSources {
      let f = source.forward.vector
      let patterns = source.polarPatterns.map(\.rawValue).joined(separator: ",")
      let orientations = source.stereoOrientations.map(\.rawValue).joined(separator: ",")
      let channels = source.microphones.map(String.init).joined(separator: ",")
      parts.append(
        "source \(source.name.debugDescription) \(f.x) \(f.y) \(f.z) \(channels) \(patterns) \(orientations)")
      if source.pose != .none { parts.append("pose \(source.pose.angles)") }
    }
    if device.filterCases.contains(where: { $0.polarPattern == .stereo }) {
      let head =
        packagedHead && device.hrtf == nil
        ? HRTF.packagedHash : ContentHash.ofFile(device.hrtf ?? HRTF.defaultPath)
      parts.append("hrtf \(head ?? "unreadable")")
    }
    if device.dataSources.contains(where: \.offersAmbisonics) {
      let isSphere = if case .sphere = device.body { true } else { false }
      parts.append("ambisonics \(isSphere ? Self.ambisonicsVersionOfSpheres : Self.ambisonicsVersion)")
    }
    for (name, value) in device.design.values { parts.append("\(name) \(value)") }
    text = parts.joined(separator: "; ")
  }

  /// A hash of `text` in UTF-8: 16 hexadecimal digits.
  package var hash: String {
    var hash = ContentHash()
    hash.add(text.utf8)
    return hash.digits
  }
}
