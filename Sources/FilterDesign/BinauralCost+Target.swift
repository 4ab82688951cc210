import Acoustics
import Numerics

extension BinauralCost {
  /// What the design wants of one bin.
  package struct Target {
    /// Energies of the target, `[sector][ear]`.
    package var energies: [Double]
    /// Normalised interaural cross-spectra of the target: `[sector]`.
    package var crossSpectra: [Complex]
    /// Responses straight ahead and straight behind, `[front, rear][microphone]`.
    package var axis: [Complex]
    /// Wanted sum of both ears' energies, `[front, rear]`.
    package var axisEnergies: [Double]
    /// Weight of the squared error of the log ratio of front to rear.
    package var frontBackWeight: Double
    /// Added to all energies, so that errors of much lower energies do not matter.
    package var floor: Double
    /// Power ratio above which noise gain is penalised.
    package var noiseGainLimit: Double
    /// Weight of the squared errors of cross-spectra.
    package var crossWeight: Double
    /// Weight of the squared error of least squares, divided by the target's mean energy.
    package var leastSquaresWeight: Double
    /// Covariance of the directions as they count in least squares, `[row][column]`.
    package var leastSquaresCovariance: [Complex]
    /// Cross-correlation of each ear's target with the microphones, as directions count in least squares:
    /// `[ear][microphone]`.
    package var leastSquaresCorrelation: [Complex]
    /// The weights to stay near to, `[ear][microphone]`; empty for none.
    package var previous: [Complex]
    /// Weight of the squared distance from `previous`, relative to its energy.
    package var smoothness = DesignParameters.Joint().smoothness

    package init(
      energies: [Double], crossSpectra: [Complex], axis: [Complex], axisEnergies: [Double],
      frontBackWeight: Double, floor: Double,
      noiseGainLimit: Double, crossWeight: Double,
      leastSquaresWeight: Double = 0, leastSquaresCovariance: [Complex] = [],
      leastSquaresCorrelation: [Complex] = [], previous: [Complex] = []
    ) {
      (self.energies, self.crossSpectra, self.floor) = (energies, crossSpectra, floor)
      (self.noiseGainLimit, self.crossWeight) = (noiseGainLimit, crossWeight)
      (self.axis, self.axisEnergies, self.frontBackWeight) = (axis, axisEnergies, frontBackWeight)
      self.leastSquaresWeight = leastSquaresWeight
      self.leastSquaresCovariance = leastSquaresCovariance
      self.leastSquaresCorrelation = leastSquaresCorrelation
      self.previous = previous
    }
  }
}
