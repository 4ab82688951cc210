import Acoustics
import Glibc

/// The microphones in the lid of a laptop, as far as its firmware says where they are.
///
/// Offsets in the firmware have no common origin and, between makers, no common sign: only their differences count.
public struct LidArray: Hashable, Sendable {
  /// In the order of their channels: x to the right and y up as seen by a user who faces the lid, z towards the user, in
  /// metres from the middle between the outermost. All lie in one plane, z = 0.
  public let microphones: [Microphone]
  /// Where the firmware places them: "top", "bottom", "front", "rear"; nil if it does not say.
  public let panel: String?
  /// Whether the user measured their distances; otherwise the firmware gives them.
  public let isMeasured: Bool
  /// Whether the firmware says of all capsules what they are. Those of which it does not count as omnidirectional.
  public let saysCapsules: Bool

  /// From the firmware's description.
  /// - Throws: what it does not say, and what to do about it, if no array follows from it.
  public init(_ described: [DigitalMicrophone]) throws(LidArrayFault) {
    guard !described.isEmpty else { throw .undescribed }
    guard described.count > 1 else { throw .single }
    let channels = described.map { $0.channel ?? -1 }
    guard Set(channels).count == channels.count, channels.allSatisfy((0..<64).contains) else {
      throw .channels
    }
    let panels = Set(described.map(\.panel))
    guard panels.count == 1 else { throw .panels(panels.map { $0 ?? "unknown" }.sorted()) }
    let panel = panels.first!
    guard panel != "left", panel != "right" else { throw .side(panel!) }
    let ordered = described.sorted { $0.channel! < $1.channel! }
    let offsets = ordered.map { SIMD2(Double($0.horizontalOffset ?? 0), Double($0.verticalOffset ?? 0)) }
    guard Set(offsets).count > 1 else { throw .together(offsets.count) }
    guard Set(offsets).count == offsets.count else { throw .some }
    let low = offsets.reduce(offsets[0]) { pointwiseMin($0, $1) }
    let high = offsets.reduce(offsets[0]) { pointwiseMax($0, $1) }
    let extent = (high - low).max()
    guard Self.plausible.contains(extent) else { throw .extent(Int(min(extent, 1e9))) }
    self.panel = panel
    isMeasured = false
    saysCapsules = described.allSatisfy { $0.omnidirectionalPart != nil }
    microphones = try zip(ordered, offsets).map { (microphone, offset) throws(LidArrayFault) in
      let place = (offset - (low + high) / 2) / 1000
      return Microphone(
        name: "mic-\(microphone.channel! + 1)", position: [place.x, place.y, 0],
        capsule: try microphone.capsule(atRear: panel == "rear"), channel: microphone.channel! + 1)
    }
  }

  /// A line whose microphones are on the first channels, from left to right.
  /// - Parameter spacing: between neighbours, in metres.
  public init(microphones count: Int, spacing: Double) {
    panel = nil
    isMeasured = true
    saysCapsules = false
    microphones = (0..<count).map {
      Microphone(
        name: "mic-\($0 + 1)", position: [(Double($0) - Double(count - 1) / 2) * spacing, 0, 0],
        channel: $0 + 1)
    }
  }

  /// Distances in millimetres between the outermost microphones of a lid, along either edge.
  private static let plausible = 5.0...500.0

  /// The positions on a rigid lid, in metres from its middle: its upper edge is `margin` above the microphones, or its
  /// lower edge below those of the bottom panel. Those of the rear panel are on the back.
  /// - Parameter size: width, height and depth of the lid, in metres.
  /// - Throws: if they are not all on the lid, or have a directional capsule.
  public func on(lid size: SIMD3<Double>, margin: Double = 0.005) throws(LidArrayFault) -> [Microphone] {
    guard microphones.allSatisfy({ $0.capsule == nil }) else { throw .directional }
    let half = microphones.map(\.position).reduce(SIMD3<Double>.zero) { pointwiseMax($0, $1) }
    let edge = size.y / 2 - margin - half.y
    guard half.x <= size.x / 2, edge >= -size.y / 2 + half.y else { throw .tooSmall }
    let middle = SIMD3(0, panel == "bottom" ? -edge : edge, (panel == "rear" ? -size.z : size.z) / 2)
    return microphones.map { Microphone(name: $0.name, position: $0.position + middle, channel: $0.channel) }
  }
}

extension DigitalMicrophone {
  /// "top" of "laptop-top-panel"; nil if the firmware does not say.
  fileprivate var panel: String? {
    location.flatMap { $0.wholeMatch(of: #/laptop-([a-z]{1,10})-panel/#) }.map { String($0.output.1) }
  }

  /// α of α + (1 − α) cos θ; nil if the firmware does not say. `nhlt-dmic-info` spells "cardoid".
  fileprivate var omnidirectionalPart: Double? {
    let pattern: PolarPattern? =
      switch type {
      case "omnidirectional": .omnidirectional
      case "subcardoid", "subcardioid": .subcardioid
      case "cardoid", "cardioid": .cardioid
      case "supercardoid", "supercardioid": .supercardioid
      case "hypercardoid", "hypercardioid": .hypercardioid
      case "8shaped": .figureEight
      default: nil
      }
    return pattern?.omnidirectionalPart
  }

  /// Nil for an omnidirectional capsule. Its direction and elevation count from the normal of its panel.
  fileprivate func capsule(atRear: Bool) throws(LidArrayFault) -> Capsule? {
    guard let part = omnidirectionalPart, part < 1 else { return nil }
    let (direction, elevation) = (Double(directionAngle ?? 0), Double(elevationAngle ?? 0))
    guard abs(direction) <= 180, abs(elevation) <= 90 else { throw .angles }
    let turn = Double.pi / 180 * (direction + (atRear ? 180 : 0))
    let rise = Double.pi / 180 * elevation
    return Capsule(
      omnidirectionalPart: part,
      facing: Direction([sin(turn) * cos(rise), sin(rise), cos(turn) * cos(rise)])!)
  }
}

/// Why no array follows from the firmware's description.
public enum LidArrayFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// ALSA has stored none.
  case undescribed
  case single
  /// They are missing, or not all different.
  case channels
  case panels([String])
  case side(String)
  /// All of this many microphones are at one place.
  case together(Int)
  /// Some are at one place.
  case some
  /// In millimetres.
  case extent(Int)
  case angles
  case directional
  case tooSmall

  public var description: String {
    switch self {
    case .undescribed:
      "ALSA has no positions of this laptop's microphones: firmware often says only that two or four stand in a line; measure the distance of neighbours, and add --microphones N --spacing MM"
    case .single:
      "the firmware describes a single microphone, and an array needs two; if there are more, add --microphones N --spacing MM"
    case .channels:
      "the firmware gives its microphones no channels, or the same; \(Self.remedy)"
    case .panels(let panels):
      "the firmware places the microphones in different panels (\(panels.joined(separator: ", "))), but not the panels; \(Self.remedy)"
    case .side(let side):
      "the firmware places the microphones on the \(side) side, where the axes of its offsets are not known; \(Self.remedy)"
    case .together(let count):
      "the firmware places all \(count) microphones at one point; measure the distance of neighbours, and add --spacing MM"
    case .some:
      "the firmware places some of the microphones at one point, and others elsewhere; \(Self.remedy)"
    case .extent(let extent):
      "the firmware's offsets differ by \(extent) mm, which cannot be true of a laptop; \(Self.remedy)"
    case .angles: "the firmware gives a microphone an impossible direction; \(Self.remedy)"
    case .directional:
      "the firmware describes directional capsules, which have no model on a lid; leave out --size"
    case .tooSmall: "the microphones are not all on a lid of this size; correct --size WIDTH,HEIGHT,DEPTH"
    }
  }

  private static let remedy = "measure the distance of neighbours, and add --spacing MM"

  /// What `pinna device new laptop NAME` needs for an array all the same.
  public var options: String {
    switch self {
    case .undescribed, .single: " --microphones N --spacing MM"
    default: " --spacing MM"
    }
  }
}
