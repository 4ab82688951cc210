import Acoustics
import Glibc

/// A rectangular room around the device, whose walls reflect.
///
/// Its axes are those of a listener: forward, left, up. Reflections are images: mirrored talkers outside the room. A
/// wall takes the same share of energy at every frequency and angle.
/// - Source: Allen and Berkley, Image method for efficiently simulating small-room acoustics, J. Acoust. Soc. Am. 65
///   (1979).
public struct Room: Hashable, Sendable {
  /// What each wall takes of the energy that hits it, 0…1. The device's front wall is that ahead of the listener.
  public struct Absorption: Hashable, Sendable {
    /// Behind, to the right, and below.
    public var low: SIMD3<Double>
    /// Ahead, to the left, and above.
    public var high: SIMD3<Double>

    public init(low: SIMD3<Double>, high: SIMD3<Double>) { (self.low, self.high) = (low, high) }
    public init(_ all: Double) { self.init(low: SIMD3(repeating: all), high: SIMD3(repeating: all)) }
  }

  public static let highestOrder = 6

  public let frame: HeadFrame
  /// Metres along forward, left, up.
  public let size: SIMD3<Double>
  /// The device's centre from the corner behind, to the right and below, in metres.
  public let device: SIMD3<Double>
  public let absorption: Absorption
  /// Walls that a reflection may have touched.
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

  /// Whether a position of the device frame lies in the room.
  func contains(_ position: Position) -> Bool {
    let place = device + frame.head(fromDevice: position)
    return (0..<3).allSatisfy { place[$0] >= 0 && place[$0] <= size[$0] }
  }

  /// The sound itself, then its reflections.
  var images: [Image] {
    let axes = (0..<3).map(axisImages)
    var images: [Image] = []
    for x in axes[0] {
      for y in axes[1] where x.touched + y.touched <= order {
        for z in axes[2] where x.touched + y.touched + z.touched <= order {
          images.append(
            Image(
              frame: frame, mirror: [x.mirror, y.mirror, z.mirror], offset: [x.offset, y.offset, z.offset],
              gain: x.gain * y.gain * z.gain, touched: x.touched + y.touched + z.touched))
        }
      }
    }
    return images.filter { $0.gain > 0 }.sorted { $0.touched < $1.touched }
  }

  /// Along one axis: x ↦ mirror · x + offset, as the device sees it.
  private func axisImages(_ axis: Int) -> [(mirror: Double, offset: Double, gain: Double, touched: Int)] {
    let (low, high) = ((1 - absorption.low[axis]).squareRoot(), (1 - absorption.high[axis]).squareRoot())
    return (-order...order).flatMap { n in
      [0, 1].compactMap { q in
        let touched = (low: abs(n - q), high: abs(n))
        guard touched.low + touched.high <= order else { return nil }
        return (
          mirror: q == 1 ? -1 : 1, offset: 2 * Double(n) * size[axis] - 2 * Double(q) * device[axis],
          gain: pow(low, Double(touched.low)) * pow(high, Double(touched.high)),
          touched: touched.low + touched.high
        )
      }
    }
  }
}

/// A talker as a room's walls show it, or as it is.
struct Image: Hashable, Sendable {
  let frame: HeadFrame
  /// ±1 along forward, left, up.
  let mirror: SIMD3<Double>
  /// In metres along forward, left, up.
  let offset: SIMD3<Double>
  /// Of amplitude, the walls' part alone.
  let gain: Double
  /// Walls on the way.
  let touched: Int

  /// Where the image of a talker in `place` is; nil at the device's centre.
  func place(of place: Place) -> Place? {
    touched == 0
      ? place
      : Place(position: frame.device(fromHead: mirror * frame.head(fromDevice: place.position) + offset))
  }
}
