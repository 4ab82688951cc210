import Acoustics
import Glibc

/// The device file of an array of a common shape, to edit: what `pinna device new` writes.
///
/// Lengths are in millimetres, in the frame of the file (`Placement`).
public struct ArrayTemplate: Hashable, Sendable {
  public enum Shape: Hashable, Sendable {
    /// At equal angles on a circle, the first at the top of the drawing, clockwise.
    case ring(microphones: Int, radius: Double)
    /// At equal distances along x, from left to right.
    case line(microphones: Int, spacing: Double)
    /// Row by row from the top of the drawing, from left to right.
    case grid(columns: Int, rows: Int, spacing: Double)
    /// Around the narrow sides of a box, at half of its depth, at equal angles.
    case box(microphones: Int, size: SIMD3<Double>)
    /// Evenly distributed over a rigid sphere (Fibonacci lattice).
    case sphere(microphones: Int, radius: Double)
  }

  public let shape: Shape
  public let placement: Placement
  /// Whether a ring or box has one more microphone, the last: in the ring's middle; in the middle of the face of a box
  /// that looks at the user, or on top of one that lies on a table.
  public let hasCentre: Bool

  public init(_ shape: Shape, placement: Placement, hasCentre: Bool = false) {
    self.shape = shape
    self.placement = placement
    self.hasCentre = hasCentre
  }

  /// The names and positions of all microphones, in millimetres.
  public var microphones: [(name: String, position: SIMD3<Double>)] {
    let places = positions.enumerated().map { (name: "mic-\($0 + 1)", position: $1) }
    // Last, so that it changes no other microphone's capture channel.
    return places + (hasCentre ? [(name: "centre", position: centre)] : [])
  }

  private var centre: SIMD3<Double> {
    if case .box(_, let size) = shape { [0, 0, size.z / 2] } else { .zero }
  }

  private var positions: [SIMD3<Double>] {
    switch shape {
    case .ring(let count, let radius):
      return (0..<count).map { n in
        let angle = 2 * Double.pi * Double(n) / Double(count)
        let (right, up) = (radius * sin(angle), radius * cos(angle))
        // A ring around a head lies in the horizontal plane.
        return placement == .worn ? [-right, 0, up] : [right, up, 0]
      }
    case .line(let count, let spacing):
      return (0..<count).map { [(Double($0) - Double(count - 1) / 2) * spacing, 0, 0] }
    case .grid(let columns, let rows, let spacing):
      return (0..<rows).flatMap { row in
        (0..<columns).map { column in
          [
            (Double(column) - Double(columns - 1) / 2) * spacing,
            (Double(rows - 1) / 2 - Double(row)) * spacing, 0,
          ]
        }
      }
    case .box(let count, let size):
      return (0..<count).map { n in
        let angle = 2 * Double.pi * Double(n) / Double(count)
        let direction = SIMD2(sin(angle), cos(angle))
        let reach = min(
          size.x / 2 / max(abs(direction.x), 1e-9), size.y / 2 / max(abs(direction.y), 1e-9))
        return [reach * direction.x, reach * direction.y, 0]
      }
    case .sphere(let count, let radius):
      return (0..<count).map { n in
        let height = 1 - (2 * Double(n) + 1) / Double(count)
        let across = (1 - height * height).squareRoot()
        let angle = Double(n) * Double.pi * (3 - 5.0.squareRoot())
        // The lattice's axis is the vertical one.
        let (x, y, z) = (across * sin(angle), height, across * cos(angle))
        return radius * (placement == .table ? SIMD3(-x, z, y) : SIMD3(x, y, z))
      }
    }
  }

  /// Whether microphones differ in their distance to what is in front, which patterns other than stereo need.
  private var hasDepth: Bool {
    switch shape {
    case .line: false
    case .ring, .grid: placement == .table || (placement == .worn && isRing)
    case .sphere: true
    case .box: placement == .table || hasCentre
    }
  }

  private var isRing: Bool { if case .ring = shape { true } else { false } }

  private var body: String {
    switch shape {
    case .ring, .line, .grid: "free"
    case .box(_, let size): "{box: \(Self.text(size))}"
    case .sphere(_, let radius): "{sphere: \(Self.text(radius))}"
    }
  }

  private var words: String {
    switch shape {
    case .ring(let count, let radius):
      "A ring of \(count) microphones with a radius of \(Self.text(radius)) mm"
    case .line(let count, let spacing): "A line of \(count) microphones, \(Self.text(spacing)) mm apart"
    case .grid(let columns, let rows, let spacing):
      "A grid of \(columns) x \(rows) microphones, \(Self.text(spacing)) mm apart"
    case .box(let count, _): "\(count) microphones around the narrow sides of a box"
    case .sphere(let count, let radius):
      "\(count) microphones on a rigid sphere with a radius of \(Self.text(radius)) mm"
    }
  }

  private var frame: String {
    switch placement {
    case .upright: "x to the right and y up as seen by somebody who faces it, z towards them"
    case .table: "drawn from above: x to the right, y up on the drawing, z upwards from the table"
    case .worn: "x to the wearer's left, y up, z where the wearer looks"
    case .camera: "x to the right and y up as seen by somebody who looks into the camera, z towards them"
    }
  }

  /// The text of the file.
  /// - Parameter name: of the device, without the extension.
  public func text(name: String) -> String {
    let width = microphones.map(\.name.count).max() ?? 0
    let list = microphones.map { microphone in
      "  \(microphone.name): \(String(repeating: " ", count: width - microphone.name.count))\(Self.text(microphone.position))\n"
    }
    return """
      # \(words)\(hasCentre ? ", and one in the centre" : ""). Written by `pinna device new`.
      # Measure your array, correct this file, then look at it with: pinna device check \(name).yaml --picture \(name).svg
      # Pinna hears the difference of a millimetre: take distances between the openings of the microphones.

      format: 2
      title: \(name)
      placement: \(placement.rawValue)    # or \(Placement.allCases.filter { $0 != placement }.map(\.rawValue).joined(separator: ", "))
      body: \(body)    # free, {sphere: RADIUS}, {cylinder: RADIUS}, {box: [X, Y, Z]}, or a measurement

      # With these lines `pinna detect` recognises the array, and `pinna run --connect` finds its capture ports.
      # hardware:
      #   usb: ["1234:5678"]        # vendor and product, as lsusb prints them
      #   card: [NAME]              # a part of the card's name in /proc/asound/cards
      #   channels: \(microphones.count)               # capture channels of the card
      #   rates: [48000]            # sample rates in hertz

      # Millimetres, \(frame).
      # A microphone on another capture channel than its place in this list: {position: [X, Y, Z], channel: 3}.
      # A directional capsule: {position: [X, Y, Z], capsule: cardioid, faces: [0, 1, 0]}.
      microphones:
      \(list.joined())
      # The first microphone of a list is the one that the omnidirectional pattern uses.
      dataSources:
      \(sources.joined(separator: "\n"))

      """
  }

  private var sources: [String] {
    let table = placement == .table
    let mono =
      hasDepth
      ? "omnidirectional, subcardioid, cardioid, supercardioid, hypercardioid, figureEight"
      : "omnidirectional"
    // Omnidirectional is what the centre hears.
    let names = microphones.map(\.name)
    let used = hasCentre ? "[\((names.suffix(1) + names.dropLast()).joined(separator: ", "))]" : "all"
    func source(_ name: String, _ forward: String, _ patterns: String) -> String {
      "  \(name):\n    forward: \(forward)\n    microphones: \(used)\n    polarPatterns: [\(patterns)]"
    }
    var sources = [source("Front", table ? "+y" : "+z", mono + ", stereo")]
    if placement != .worn { sources.append(source("Back", table ? "-y" : "-z", mono + ", stereo")) }
    if table, hasDepth {
      sources += [source("Left", "-x", mono), source("Right", "+x", mono)]
    }
    return sources
  }

  static func text(_ number: Double) -> String {
    let rounded = (number * 100).rounded() / 100 + 0
    return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
  }

  static func text(_ vector: SIMD3<Double>) -> String {
    "[\(text(vector.x)), \(text(vector.y)), \(text(vector.z))]"
  }
}
