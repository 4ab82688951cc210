import Acoustics
import Glibc
import Settings

/// How loud a feed plays who speaks, and the rest: the room. Both add up to the whole.
public struct FollowedPart: Sendable {
  /// Linear gains.
  public var talkers: Double
  public var room: Double
  /// The talkers that count; the others belong to the room.
  public var picked: Picked
  /// From which azimuths they may come; nil for all.
  public var frame: Frame?
  /// Of a flat array, which cannot tell what is above, a unit vector across its plane: heights do not count then.
  public var plane: SIMD3<Double>?

  public enum Picked: Sendable {
    case everybody
    /// Of an identity.
    case one(Int)
    /// Whoever is at a place, and nearer to it than to others that have a name: unit vectors of the device frame.
    case at(SIMD3<Double>, others: [SIMD3<Double>] = [])
  }

  /// A range of azimuths.
  public struct Frame: Sendable {
    /// Unit vectors of the device frame: its middle, and what azimuths turn around.
    package let centre: SIMD3<Double>
    package let up: SIMD3<Double>
    /// Of half its width.
    package let cosine: Double

    public init(centre: SIMD3<Double>, up: SIMD3<Double>, width degrees: Double) {
      (self.centre, self.up) = (centre, up)
      cosine = degrees >= 360 ? -2 : cos(degrees * .pi / 360)
    }

    func contains(_ direction: SIMD3<Double>) -> Bool {
      func flat(_ v: SIMD3<Double>) -> SIMD3<Double> { v - v.dot(up) * up }
      let (a, b) = (flat(centre), flat(direction))
      let lengths = (a.dot(a) * b.dot(b)).squareRoot()
      return lengths > 1e-9 && a.dot(b) / lengths >= cosine
    }
  }

  public init(talkers: Double, room: Double, picked: Picked = .everybody, frame: Frame? = nil) {
    (self.talkers, self.room, self.picked, self.frame) = (talkers, room, picked, frame)
  }

  /// Within this angle of a talker or a place, sound is its own: cosine.
  static let near = cos(20 * Double.pi / 180)
  /// Within this angle of a place, a talker is who has its name: cosine.
  private static let named = cos(Seat.tolerance * Double.pi / 180)

  private func cosine(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
    guard let plane else { return a.dot(b) }
    let (a, b) = (a - a.dot(plane) * plane, b - b.dot(plane) * plane)
    return a.dot(b) / max((a.dot(a) * b.dot(b)).squareRoot(), 1e-12)
  }

  /// Whether sound from a direction is part of `talkers`.
  package func takes(_ direction: SIMD3<Double>, _ known: Talkers?) -> Bool {
    if let frame, !frame.contains(direction) { return false }
    switch picked {
    case .everybody: return true
    case .at(let place, let others):
      func isNearer(_ direction: SIMD3<Double>) -> Bool {
        others.allSatisfy { cosine($0, direction) <= cosine(place, direction) }
      }
      // What is nearer to the place than to anybody known may be the first of whoever is there.
      guard let talker = talker(nearest: direction, known, within: Self.near),
        cosine(talker.direction, direction) > cosine(place, direction)
      else { return cosine(place, direction) > Self.near && isNearer(direction) }
      return isNearer(talker.direction)
        && self.talker(nearest: place, known, within: Self.named)?.identity == talker.identity
    case .one(let identity): return talker(nearest: direction, known, within: Self.near)?.identity == identity
    }
  }

  /// - Parameter limit: cosine of the angle.
  private func talker(nearest direction: SIMD3<Double>, _ known: Talkers?, within limit: Double)
    -> TrackedTalker?
  {
    var (best, nearest): (TrackedTalker?, Double) = (nil, limit)
    guard let known else { return nil }
    for n in known.indices {
      guard let talker = known[n], cosine(talker.direction, direction) > nearest else { continue }
      (best, nearest) = (talker, cosine(talker.direction, direction))
    }
    return best
  }
}
