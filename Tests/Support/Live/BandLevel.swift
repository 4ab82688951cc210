import Foundation
import TestSupport

/// The energy of `signal` from `low` to `high` hertz, in dB.
public func bandLevel(_ signal: [Float], sampleRate: Int, from low: Double, to high: Double) -> Double {
  var size = 1
  while size < signal.count { size *= 2 }
  let padded = signal + [Float](repeating: 0, count: size - signal.count)
  let spectrum = Spectrum(padded, sampleRate: Double(sampleRate), kaiserBeta: 0)
  let energy = spectrum.magnitudes.enumerated().reduce(0.0) { sum, bin in
    (low...high).contains(Double(bin.offset) * spectrum.binWidth) ? sum + bin.element * bin.element : sum
  }
  return 10 * log10(energy)
}

/// The runs of at least `shortest` zeros.
public func silences(in signal: [Float], shortest: Int) -> [Range<Int>] {
  var found: [Range<Int>] = []
  var start: Int?
  for n in 0...signal.count {
    if n < signal.count, signal[n] == 0 {
      start = start ?? n
    } else if let begin = start {
      if n - begin >= shortest { found.append(begin..<n) }
      start = nil
    }
  }
  return found
}
