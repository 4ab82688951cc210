import CLapack
import Foundation

/// Takes back what cutting filters to their length did to a pattern at low frequencies.
///
/// Differential patterns need integrators, whose impulse responses no 5 ms hold: cut, they ripple by 1 dB
/// around 500 Hz. To the cut filters is added what least squares finds among smooth, faded cosines up to 3 kHz
/// so that the pattern comes back, the octaves above 100 Hz counting the more the lower they are.
struct TruncationRepair {
  static let highestCosine = 3000.0
  static let highestFrequency = 6000.0
  static let lowestFrequency = 100.0
  /// Weight of the filters' own deviation (noise) against that of the pattern.
  static let noiseWeight = 1e-4

  let grid: DesignGrid
  /// Faded cosines over the taps: `[cosine][tap]`.
  private let basis: [[Double]]
  private let bins: Range<Int>

  init(grid: DesignGrid) {
    self.grid = grid
    let window = Weights.window(tapCount: grid.tapCount, delayFrames: grid.delayFrames)
    let count = min(
      grid.tapCount / 2, Int(Self.highestCosine * Double(2 * grid.tapCount) / Double(grid.sampleRate)))
    basis = (0..<count).map { j in
      (0..<grid.tapCount).map { n in
        window[n] * cos(.pi * Double(j) * (Double(n) + 0.5) / Double(grid.tapCount))
      }
    }
    bins = 0..<min(grid.designedBinCount, Int(Self.highestFrequency / grid.binWidth) + 1)
  }

  /// - Parameters:
  ///   - filters: cut filters of one output, `[microphone][tap]`.
  ///   - weights: what they came from, one output.
  ///   - energies: R of each bin, mean of conj(V) Vᵀ, `[bin][row][column]`, flat per bin.
  /// - Returns: repaired filters, `[microphone][tap]`.
  func repair(_ filters: [[Double]], weights: Weights, energies: [[Complex]]) -> [[Double]] {
    let microphones = filters.count
    let unknowns = microphones * basis.count
    var matrix = [Double](repeating: 0, count: unknowns * unknowns)
    var right = [Double](repeating: 0, count: unknowns)
    for bin in bins {
      let frequency = grid.frequency(bin)
      let importance = frequency < Self.lowestFrequency ? 0.001 : pow(Self.lowestFrequency / frequency, 2)
      let turns = self.turns(frequency)
      let spectra = basis.map { Self.sum($0, turns) }
      let target = weights[bin]
      let missing = (0..<microphones).map { target[$0] - Self.sum(filters[$0], turns) }
      for m in 0..<microphones {
        var row = (0..<microphones).map { importance * energies[bin][m * microphones + $0] }
        row[m] += Complex(importance * Self.noiseWeight, 0)
        var error = Complex.zero
        for (factor, difference) in zip(row, missing) { error += factor * difference }
        for (i, a) in spectra.enumerated() {
          let conjugate = a.conjugate
          right[m * basis.count + i] += (conjugate * error).real
          for n in m..<microphones {
            let factor = conjugate * row[n]
            let start = (m * basis.count + i) * unknowns + n * basis.count
            for (j, b) in spectra.enumerated() {
              matrix[start + j] += factor.real * b.real - factor.imaginary * b.imaginary
            }
          }
        }
      }
    }
    let scale = (0..<unknowns).map { matrix[$0 * unknowns + $0] }.max() ?? 0
    for i in 0..<unknowns { matrix[i * unknowns + i] += 1e-9 * scale }
    let status = LAPACKE_dposv(
      LAPACK_ROW_MAJOR, CChar(UInt8(ascii: "U")), Int32(unknowns), 1, &matrix, Int32(unknowns), &right, 1)
    guard status == 0 else { return filters }
    return (0..<microphones).map { m in
      (0..<grid.tapCount).map { tap in
        var value = filters[m][tap]
        for j in basis.indices { value += right[m * basis.count + j] * basis[j][tap] }
        return value
      }
    }
  }

  /// e^(−jω(n − delay)) of each tap n.
  private func turns(_ frequency: Double) -> [Complex] {
    let step = -2 * Double.pi * frequency / Double(grid.sampleRate)
    return (0..<grid.tapCount).map { Complex(phase: step * Double($0 - grid.delayFrames)) }
  }

  private static func sum(_ taps: [Double], _ turns: [Complex]) -> Complex {
    var sum = Complex.zero
    for (tap, turn) in zip(taps, turns) { sum += tap * turn }
    return sum
  }
}
