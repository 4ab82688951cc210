import CLapack
import Numerics
import Synchronization

/// The covariances of an array's responses over regions of the sphere, in every bin: all that stereo needs of the array.
/// They are computed once for all listeners whose directions are the same in another order.
struct SphereCovariances: Sendable {
  let microphones: Int
  /// The upper triangle of each region's covariance, row by row: `[bin][region][pair](real, imaginary)`.
  private let bins: [[Double]]

  private static func pairs(_ microphones: Int) -> Int { microphones * (microphones + 1) / 2 }

  /// Computes them on all cores.
  /// - Parameters:
  ///   - responses: `[bin][microphone][direction]`.
  ///   - regions: weight of each direction in each region, `[region][direction]`.
  init(_ responses: ResponseGrid, regions: [Double], step: DesignStep) throws(DesignError) {
    let (microphones, directions) = (responses.channels, responses.directions)
    self.microphones = microphones
    let (count, width) = (regions.count / directions, 2 * Self.pairs(microphones))
    let bins = Mutex([[Double]](repeating: [], count: responses.frequencies))
    let block = 16
    let blocks = (responses.frequencies + block - 1) / block
    let steps = step.divided(by: [Double](repeating: 1, count: blocks))
    try DesignThreads.forEach(blocks) { number throws(DesignError) in
      // Few enough rows of products for the processor's cache.
      var products = [Double](repeating: 0, count: Self.rows * directions)
      for bin in number * block..<min((number + 1) * block, responses.frequencies) {
        var sums = [Double](repeating: 0, count: count * width)
        responses.values.withUnsafeBufferPointer { values in
          let values = values.baseAddress! + bin * microphones * directions
          var (row, done) = (0, 0)
          products.withUnsafeMutableBufferPointer { products in
            func flush() {
              sums.withUnsafeMutableBufferPointer { sums in
                cblas_dgemm(
                  CblasRowMajor, CblasNoTrans, CblasTrans, Int32(count), Int32(row), Int32(directions), 1,
                  regions, Int32(directions), products.baseAddress!, Int32(directions), 0,
                  sums.baseAddress! + done, Int32(width))
              }
              (row, done) = (0, done + row)
            }
            for m in 0..<microphones {
              for n in m..<microphones {
                let (a, b) = (values + m * directions, values + n * directions)
                let real = products.baseAddress! + row * directions
                let imaginary = real + directions
                for d in 0..<directions {
                  let product = a[d].conjugate * b[d]
                  (real[d], imaginary[d]) = (product.real, product.imaginary)
                }
                row += 2
                if row == Self.rows { flush() }
              }
            }
            if row > 0 { flush() }
          }
        }
        bins.withLock { [sums] in $0[bin] = sums }
      }
      try steps[number].reached(1)
    }
    self.bins = bins.withLock { $0 }
  }

  /// Rows of products at a time.
  private static let rows = 64

  /// The covariances of some regions in one bin, `[region][row][column]`.
  /// - Parameter loading: what is added to the diagonal, relative to it.
  func covariances(_ bin: Int, _ regions: [Int], loading: Double = 0) -> [Complex] {
    let width = 2 * Self.pairs(microphones)
    let size = microphones * microphones
    var result = [Complex](repeating: .zero, count: regions.count * size)
    result.withUnsafeMutableBufferPointer { result in
      bins[bin].withUnsafeBufferPointer { sums in
        for (number, region) in regions.enumerated() {
          let matrix = result.baseAddress! + number * size
          var pair = sums.baseAddress! + region * width
          for m in 0..<microphones {
            matrix[m * (microphones + 1)] = Complex((1 + loading) * pair[0], 0)
            pair += 2
            for n in m + 1..<max(m + 1, microphones) {
              let value = Complex(pair[0], pair[1])
              matrix[m * microphones + n] = value
              matrix[n * microphones + m] = value.conjugate
              pair += 2
            }
          }
        }
      }
    }
    return result
  }

  func covariance(_ bin: Int, _ region: Int) -> BinCovariance {
    BinCovariance(microphones: microphones, values: covariances(bin, [region]))
  }
}

/// The covariance R of an array's responses in one bin: the output energy of weights w, averaged over the directions, is
/// wᴴ R w.
struct BinCovariance: Sendable {
  let microphones: Int
  /// `[row][column]`
  let values: [Complex]

  /// Energy of a microphone, averaged over microphones and directions; 1 in the free field.
  var meanEnergy: Double {
    (0..<microphones).reduce(0) { $0 + values[$1 * (microphones + 1)].real } / Double(microphones)
  }

  /// Output power of each output, for noise of unit power in each microphone (‖w‖²) and for a diffuse field (wᴴRw).
  /// - Parameter weights: `[output][microphone]`.
  func outputPowers(of weights: [Complex]) -> [(noise: Double, signal: Double)] {
    weights.withUnsafeBufferPointer { weights in
      values.withUnsafeBufferPointer { values in
        stride(from: 0, to: weights.count, by: microphones).map { start in
          var noise = 0.0
          var signal = 0.0
          for m in 0..<microphones {
            let w = weights[start + m]
            var product = Complex.zero
            for n in 0..<microphones { product += values[m * microphones + n] * weights[start + n] }
            noise += w.squaredMagnitude
            signal += w.real * product.real + w.imaginary * product.imaginary
          }
          return (noise, signal)
        }
      }
    }
  }
}
