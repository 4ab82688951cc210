import Foundation

/// Amplitude spectrum of a signal with a Kaiser window, scaled so that a full-scale sine on a bin reads 1.
/// The signal is truncated to the longest power of two.
public struct Spectrum {
  public let binWidth: Double
  public let magnitudes: [Double]

  public init(_ signal: [Float], sampleRate: Double, kaiserBeta beta: Double = 24) {
    var size = 1
    while size * 2 <= signal.count { size *= 2 }
    var sum = 0.0
    var re = [Double](repeating: 0, count: size)
    var im = re
    for n in 0..<size {
      let x = 2 * Double(n) / Double(size - 1) - 1
      let w = besselI0(beta * (1 - x * x).squareRoot()) / besselI0(beta)
      re[n] = Double(signal[n]) * w
      sum += w
    }
    doubleFFT(&re, &im)
    magnitudes = (0...size / 2).map { (re[$0] * re[$0] + im[$0] * im[$0]).squareRoot() * 2 / sum }
    binWidth = sampleRate / Double(size)
  }

  /// The largest magnitude farther than `distance` from `frequency`, in dBFS.
  public func peakOutside(_ frequency: Double, distance: Double) -> Double {
    let peak = magnitudes.indices.lazy
      .filter { abs(Double($0) * binWidth - frequency) > distance }.map { magnitudes[$0] }.max()!
    return 20 * log10(peak)
  }
}

/// Modified Bessel function of the first kind, order 0, by its power series.
public func besselI0(_ x: Double) -> Double {
  var term = 1.0
  var sum = 1.0
  var k = 1.0
  while term > sum * 1e-17 {
    term *= (x / (2 * k)) * (x / (2 * k))
    sum += term
    k += 1
  }
  return sum
}

/// In-place radix-2 decimation in time, in double precision.
func doubleFFT(_ re: inout [Double], _ im: inout [Double]) {
  let size = re.count
  var j = 0
  for i in 1..<size {
    var bit = size >> 1
    while j & bit != 0 {
      j ^= bit
      bit >>= 1
    }
    j ^= bit
    if i < j {
      re.swapAt(i, j)
      im.swapAt(i, j)
    }
  }
  var length = 2
  while length <= size {
    let half = length / 2
    let table = (0..<half).map { k in
      (cos(2 * Double.pi * Double(k) / Double(length)), -sin(2 * Double.pi * Double(k) / Double(length)))
    }
    for start in stride(from: 0, to: size, by: length) {
      for k in 0..<half {
        let (wr, wi) = table[k]
        let (ar, ai) = (re[start + k], im[start + k])
        let (br, bi) = (re[start + k + half], im[start + k + half])
        let (tr, ti) = (br * wr - bi * wi, br * wi + bi * wr)
        (re[start + k], im[start + k]) = (ar + tr, ai + ti)
        (re[start + k + half], im[start + k + half]) = (ar - tr, ai - ti)
      }
    }
    length *= 2
  }
}
