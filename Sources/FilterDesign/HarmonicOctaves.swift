import Numerics

/// The octaves in which B-format is designed and judged.
package struct HarmonicOctaves: Sendable {
  /// Of the octaves from 125 Hz to 8 kHz that end below the highest frequency, in hertz.
  package let centres: [Int]
  /// The bins of each octave, as indices into the frequencies.
  package let bins: [[Int]]

  /// - Parameter frequencies: ascending, in hertz.
  package init(_ frequencies: [Double]) {
    let edge = 2.0.squareRoot()
    centres = [125, 250, 500, 1000, 2000, 4000, 8000].filter {
      Double($0) * edge <= frequencies.last ?? 0
    }
    bins = centres.map { centre in
      frequencies.indices.filter {
        frequencies[$0] >= Double(centre) / edge && frequencies[$0] < Double(centre) * edge
      }
    }
  }

  /// The mean of a value per bin over each octave.
  package func means(_ value: (Int) -> Double) -> [Double] { bins.map { mean($0.map(value)) } }
}
