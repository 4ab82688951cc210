import Manifolds
import Numerics

/// What the designs of some listeners know of their array.
struct ListenerField: Sendable {
  struct Listener: Sendable {
    /// Regions of `covariances`: of each sector, and of all directions as they count in least squares.
    let sectors: [Int]
    let leastSquares: Int
    /// See `StereoDesign.correlations`.
    let correlations: [[Complex]]
    /// Responses for sources straight ahead and straight behind: `[frequency][microphone][front, rear]`.
    let axis: ResponseGrid
    let joint: JointDesign
  }

  /// The first region is all directions, which count the same, as for noise and the diffuse field.
  let covariances: SphereCovariances
  let listeners: [Listener]
  let robustness: Double
}

/// What the design of one stereo case knows of its array.
struct StereoBins {
  private let field: ListenerField
  private let listener: ListenerField.Listener
  /// The covariances over all directions, one per designed bin.
  let all: [BinCovariance]
  var joint: JointDesign { listener.joint }
  var axis: ResponseGrid { listener.axis }

  init(_ field: ListenerField, listener: Int) {
    self.field = field
    self.listener = field.listeners[listener]
    all = (0..<field.listeners[listener].axis.frequencies).map { field.covariances.covariance($0, 0) }
  }

  /// `[sector][row][column]`
  func sectorCovariances(_ bin: Int) -> [Complex] {
    field.covariances.covariances(bin, listener.sectors, loading: field.robustness)
  }

  /// Covariance and correlations as directions count in least squares; nil above `highestLeastSquares`.
  func leastSquares(_ bin: Int) -> (covariance: BinCovariance, correlation: [Complex])? {
    guard bin < listener.correlations.count else { return nil }
    return (field.covariances.covariance(bin, listener.leastSquares), listener.correlations[bin])
  }

  /// `[front, rear][microphone]`
  func axis(_ bin: Int) -> [Complex] {
    (0..<2).flatMap { side in (0..<axis.channels).map { axis[bin, $0, side] } }
  }
}
