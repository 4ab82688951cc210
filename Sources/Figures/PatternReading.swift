import Acoustics
import Glibc
import Numerics

/// Accumulates the energies of a mono pattern, frequency by frequency.
package struct PatternReading {
  /// Half the opening angle of the front and rear cones.
  static let coneAngle = Angle.degrees(30)

  /// On-axis energy per frequency.
  private(set) var axis: [Double] = []
  /// Mean energy per frequency over the sphere, the front cone and the rear cone.
  private(set) var sphere: [Double] = []
  private(set) var front: [Double] = []
  private(set) var rear: [Double] = []
  /// Energy per frequency of voices from the left, from the right and from behind, as `MeasuringField.voices`.
  private(set) var left: [Double] = []
  private(set) var right: [Double] = []
  private(set) var behind: [Double] = []
  /// Pattern error per frequency: mean (|P| − |T|)² over mean T².
  private(set) var error: [Double] = []
  /// Output noise ‖w‖² per frequency, for sensor noise of unit power.
  private(set) var noise: [Double] = []

  private let axisDirection: Int
  private let target: [Double]
  private let targetEnergy: Double
  private let frontCone: [Int]
  private let rearCone: [Int]

  /// Nil if `view` is not a mono pattern.
  init?(_ view: CaseView, field: MeasuringField) {
    guard case .pattern(let forward, let part) = view else { return nil }
    let cosines = MeasuringField.sphere.map { $0.dot(forward.vector) }
    axisDirection = field.firstDirection(of: view)
    target = cosines.map { abs(part + (1 - part) * $0) }
    targetEnergy = mean(target.map { $0 * $0 })
    let edge = cos(Self.coneAngle.radians)
    frontCone = cosines.indices.filter { cosines[$0] > edge }
    rearCone = cosines.indices.filter { cosines[$0] < -edge }
  }

  /// Front-to-back ratio of the ideal pattern.
  var targetFrontBack: Decibels {
    func energy(_ cone: [Int]) -> Double { mean(cone.map { target[$0] * target[$0] }) }
    return Decibels(10 * log10(energy(frontCone) / max(energy(rearCone), 1e-12)))
  }

  /// Directivity index of the ideal pattern.
  var targetDirectivity: Decibels { Decibels(-10 * log10(targetEnergy)) }

  /// Adds the next frequency.
  /// - Parameters:
  ///   - outputs: responses to the plane waves of the field, `[direction]`.
  ///   - weights: the filters' spectra at this frequency, `[microphone]`.
  mutating func add(_ outputs: UnsafeBufferPointer<Complex>, weights: ArraySlice<Complex>) {
    var (energy, difference) = (0.0, 0.0)
    for d in target.indices {
      let square = outputs[d].squaredMagnitude
      let deviation = square.squareRoot() - target[d]
      energy += square
      difference += deviation * deviation
    }
    func cone(_ directions: [Int]) -> Double {
      directions.reduce(0) { $0 + outputs[$1].squaredMagnitude } / Double(directions.count)
    }
    axis.append(outputs[axisDirection].squaredMagnitude)
    left.append(outputs[axisDirection + 1].squaredMagnitude)
    right.append(outputs[axisDirection + 2].squaredMagnitude)
    behind.append(outputs[axisDirection + 3].squaredMagnitude)
    sphere.append(energy / Double(target.count))
    front.append(cone(frontCone))
    rear.append(cone(rearCone))
    error.append(difference / Double(target.count) / targetEnergy)
    noise.append(weights.reduce(0) { $0 + $1.squaredMagnitude })
  }
}
