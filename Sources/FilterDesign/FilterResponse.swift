import Acoustics
import Manifolds
import Numerics

/// The frequency response of finished FIR filters without their modelling delay, and their output for plane waves.
package struct FilterResponse: Sendable {
  /// In hertz.
  package let frequencies: [Double]
  /// Shape `[frequency][output][microphone]`.
  package let weights: Weights

  package init(taps: Taps<Float>, sampleRate: Int, delayFrames: Int, frequencies: [Double]) {
    self.frequencies = frequencies
    let (outputs, microphones) = (taps.outputs, taps.microphones)
    var weights = Weights(frequencies: frequencies.count, outputs: outputs, microphones: microphones)
    for (f, frequency) in frequencies.enumerated() {
      let step = Complex(phase: -2 * .pi * frequency / Double(sampleRate))
      let start = Complex(phase: 2 * .pi * frequency * Double(delayFrames) / Double(sampleRate))
      for output in 0..<outputs {
        for microphone in 0..<microphones {
          var phasor = start
          var sum = Complex.zero
          for tap in taps[output, microphone] {
            sum += Double(tap) * phasor
            phasor *= step
          }
          weights.values[(f * outputs + output) * microphones + microphone] = sum
        }
      }
    }
    self.weights = weights
  }

  /// The outputs for plane waves of unit amplitude: `[frequency][output][direction]`.
  /// - Parameter directions: unit vectors of the device frame, pointing towards the sources.
  package func outputs(_ manifold: any ArrayManifold, from directions: [SIMD3<Double>]) -> ResponseGrid {
    let responses = manifold.responses(from: directions, frequencies: frequencies)
    var result = ResponseGrid(
      frequencies: frequencies.count, channels: weights.outputs, directions: directions.count)
    for f in frequencies.indices {
      let weight = weights[f]
      for output in 0..<weights.outputs {
        for d in directions.indices {
          var sum = Complex.zero
          for m in 0..<weights.microphones {
            sum += weight[output * weights.microphones + m] * responses[f, m, d]
          }
          result[f, output, d] = sum
        }
      }
    }
    return result
  }

  /// Noise gain in decibels, `[output][frequency]`.
  package func noiseGains(_ manifold: any ArrayManifold) -> [[Double]] {
    let pattern = outputs(manifold, from: fibonacciSphere(600))
    return (0..<weights.outputs).map { output in
      var gain = NoiseGain()
      for f in frequencies.indices {
        let signal = (0..<pattern.directions).reduce(0) { $0 + pattern[f, output, $1].squaredMagnitude }
        gain.add(
          noise: weights[f][output * weights.microphones..<(output + 1) * weights.microphones]
            .reduce(0) { $0 + $1.squaredMagnitude }, signal: signal / Double(pattern.directions))
      }
      return gain.levels
    }
  }
}
