import Acoustics
import Glibc

/// A rectangular room around the device, simulated by the image-source method.
///
/// Its axes are the listener's: forward, left, up. Each reflection is an image source: the talker mirrored at one or
/// more walls. The absorption of a wall is independent of frequency and angle of incidence.
/// - Source: Allen and Berkley, Image method for efficiently simulating small-room acoustics, J. Acoust. Soc. Am. 65
///   (1979).
public struct Room: Hashable, Sendable {
  /// Energy absorption coefficient of each wall, 0…1.
  public struct Absorption: Hashable, Sendable {
    /// The walls behind the listener and to the right, and the floor.
    public var low: SIMD3<Double>
    /// The walls in front of the listener and to the left, and the ceiling.
    public var high: SIMD3<Double>

    public init(low: SIMD3<Double>, high: SIMD3<Double>) { (self.low, self.high) = (low, high) }
    public init(_ all: Double) { self.init(low: SIMD3(repeating: all), high: SIMD3(repeating: all)) }
  }

  public static let highestOrder = 6

  public let frame: HeadFrame
  /// Edge lengths along forward, left, up, in metres.
  public let size: SIMD3<Double>
  /// Position of the device's centre, in metres from the corner that is behind, to the right and below.
  public let device: SIMD3<Double>
  public let absorption: Absorption
  /// Maximum number of wall reflections on one propagation path.
  public let order: Int

  public init(
    frame: HeadFrame, size: SIMD3<Double>, device: SIMD3<Double>, absorption: Absorption, order: Int
  ) {
    self.frame = frame
    self.size = size
    self.device = device
    self.absorption = absorption
    self.order = order
  }

  /// Whether a position in the device frame lies inside the room.
  func contains(_ position: Position) -> Bool {
    let inRoom = device + frame.head(fromDevice: position)
    return (0..<3).allSatisfy { inRoom[$0] >= 0 && inRoom[$0] <= size[$0] }
  }

  /// All image sources up to `order`, the direct sound first, then by number of reflections.
  var imageSources: [ImageSource] {
    let axes = (0..<3).map(imagesAlong(axis:))
    var images: [ImageSource] = []
    for x in axes[0] {
      for y in axes[1] where x.reflections + y.reflections <= order {
        for z in axes[2] where x.reflections + y.reflections + z.reflections <= order {
          images.append(
            ImageSource(
              frame: frame, mirror: [x.mirror, y.mirror, z.mirror], offset: [x.offset, y.offset, z.offset],
              gain: x.gain * y.gain * z.gain, reflections: x.reflections + y.reflections + z.reflections))
        }
      }
    }
    return images.filter { $0.gain > 0 }.sorted { $0.reflections < $1.reflections }
  }

  /// The images along one axis as maps x ↦ mirror · x + offset, with x relative to the device.
  private func imagesAlong(
    axis: Int
  ) -> [(mirror: Double, offset: Double, gain: Double, reflections: Int)] {
    let (low, high) = ((1 - absorption.low[axis]).squareRoot(), (1 - absorption.high[axis]).squareRoot())
    return (-order...order).flatMap { n in
      [0, 1].compactMap { q in
        let reflections = (low: abs(n - q), high: abs(n))
        guard reflections.low + reflections.high <= order else { return nil }
        return (
          mirror: q == 1 ? -1 : 1, offset: 2 * Double(n) * size[axis] - 2 * Double(q) * device[axis],
          gain: pow(low, Double(reflections.low)) * pow(high, Double(reflections.high)),
          reflections: reflections.low + reflections.high
        )
      }
    }
  }
}

/// An image source: a mapping from a talker's position to its mirror image, or to itself for the direct sound.
struct ImageSource: Hashable, Sendable {
  let frame: HeadFrame
  /// ±1 along forward, left, up.
  let mirror: SIMD3<Double>
  /// In metres along forward, left, up.
  let offset: SIMD3<Double>
  /// Amplitude factor due to the walls alone.
  let gain: Double
  /// Number of wall reflections; 0 for the direct sound.
  let reflections: Int

  /// The position of the image of a talker at `place`; nil if that is the device's centre.
  func place(of place: Place) -> Place? {
    reflections == 0
      ? place
      : Place(position: frame.device(fromHead: mirror * frame.head(fromDevice: place.position) + offset))
  }
}
