import FilterDesign
import HeadResponses
import Numerics

/// What the figures of stereo are compared with: the ear signals of a listener in the device's place.
package struct StereoTarget: Sendable {
  let horizon: BinauralLevels
  let diffuse: DiffuseReading
  /// Power by which a voice straight ahead is louder than at one microphone; designs have none. Levels are compared
  /// after it has been taken out.
  let loudness: Double

  /// - Parameter frequencies: evenly spaced, in hertz.
  package init(_ hrtf: HRTF, frequencies: [Double]) {
    horizon = BinauralLevels(
      StereoDesign.target(hrtf, from: MeasuringField.horizon, frequencies: frequencies),
      frequencies: frequencies)
    diffuse = DiffuseReading(
      StereoDesign.target(hrtf, from: MeasuringField.sphere, frequencies: frequencies))
    loudness = SpeechLoudness(frequencies: frequencies).power(horizon.responses)
  }
}
