import Acoustics
import CLapack
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
    var weights = Weights(
      frequencies: frequencies.count, outputs: taps.outputs, microphones: taps.microphones)
    let (rows, width) = (taps.outputs * taps.microphones, 2 * frequencies.count)
    let spectra = Self.spectra(
      of: taps.values.map(Double.init), rows: rows, sampleRate: sampleRate, delayFrames: delayFrames,
      frequencies: frequencies)
    weights.values.withUnsafeMutableBufferPointer { weights in
      for row in 0..<rows {
        for f in frequencies.indices {
          weights[f * rows + row] = Complex(spectra[row * width + 2 * f], spectra[row * width + 2 * f + 1])
        }
      }
    }
    self.weights = weights
  }

  /// The spectra of `rows` filters without their modelling delay.
  /// - Parameter taps: `[row][tap]`.
  /// - Returns: `[row][frequency](real, imaginary)`.
  static func spectra(
    of taps: [Double], rows: Int, sampleRate: Int, delayFrames: Int, frequencies: [Double]
  ) -> [Double] {
    let (length, width) = (taps.count / max(1, rows), 2 * frequencies.count)
    var sums = [Double](repeating: 0, count: rows * width)
    // A product with the phasors e^(−jω(n − delay)) of the taps n, a block of them at a time, few enough for the
    // processor's cache: from one tap to the next they are turned by a complex product.
    let turns = frequencies.map { 2 * .pi * $0 / Double(sampleRate) }
    let steps = turns.map { Complex(phase: -$0) }
    var phasors = turns.map { Complex(phase: Double(delayFrames) * $0) }
    let block = 32
    var table = [Complex](repeating: .zero, count: block * frequencies.count)
    for first in stride(from: 0, to: length, by: block) {
      let count = min(block, length - first)
      table.withUnsafeMutableBufferPointer { table in
        phasors.withUnsafeMutableBufferPointer { phasors in
          steps.withUnsafeBufferPointer { steps in
            for tap in 0..<count {
              let row = table.baseAddress! + tap * steps.count
              for f in steps.indices {
                row[f] = phasors[f]
                phasors[f] = steps[f] * phasors[f]
              }
            }
          }
        }
      }
      table.withUnsafeBytes { table in
        taps.withUnsafeBufferPointer { taps in
          cblas_dgemm(
            CblasRowMajor, CblasNoTrans, CblasNoTrans, Int32(rows), Int32(width), Int32(count), 1,
            taps.baseAddress! + first, Int32(length), table.bindMemory(to: Double.self).baseAddress!,
            Int32(width), 1, &sums, Int32(width))
        }
      }
    }
    return sums
  }

  /// The outputs for plane waves of unit amplitude: `[frequency][output][direction]`.
  /// - Parameter directions: unit vectors of the device frame, pointing towards the sources.
  package func outputs(_ manifold: any ArrayManifold, from directions: [SIMD3<Double>]) -> ResponseGrid {
    outputs(manifold.responses(from: directions, frequencies: frequencies))
  }

  /// The outputs for an array's `responses` at `frequencies`.
  package func outputs(_ responses: ResponseGrid) -> ResponseGrid {
    var result = ResponseGrid(
      frequencies: frequencies.count, channels: weights.outputs, directions: responses.directions)
    let (outputs, microphones, directions) = (weights.outputs, weights.microphones, responses.directions)
    result.values.withUnsafeMutableBufferPointer { result in
      weights.values.withUnsafeBufferPointer { weights in
        responses.values.withUnsafeBufferPointer { responses in
          for f in frequencies.indices {
            for output in 0..<outputs {
              let row = result.baseAddress! + (f * outputs + output) * directions
              for m in 0..<microphones {
                let weight = weights[(f * outputs + output) * microphones + m]
                let own = responses.baseAddress! + (f * microphones + m) * directions
                for d in 0..<directions { row[d] += weight * own[d] }
              }
            }
          }
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
