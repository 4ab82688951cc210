import Acoustics
import CMysofa
import Foundation

/// Impulse responses of two ears, as a SOFA file (AES69) holds them.
struct SofaFile {
  let sampleRate: Double
  /// Unit vectors towards the sources in the head frame: forward, left, up.
  let directions: [SIMD3<Double>]
  /// Elevation of each source in degrees.
  let elevations: [Double]
  let frames: Int
  /// Shape `[direction][ear][frame]`, flat; ear 0 is the left one.
  let responses: [Double]

  /// Larger than any set of head-related responses; a file that claims more is refused before it is copied.
  private static let limit = 64_000_000

  init(path: String) throws(DesignError) {
    var status: Int32 = 0
    guard let file = mysofa_load(path, &status) else {
      throw DesignError(
        "cannot read the head-related responses in \(path) (libmysofa error \(status)); install libmysofa1")
    }
    defer { mysofa_free(file) }
    mysofa_tospherical(file)
    let sofa = file.pointee
    let (count, ears, frames) = (Int(sofa.M), Int(sofa.R), Int(sofa.N))
    let (size, overflow) = count.multipliedReportingOverflow(by: frames)
    guard ears == 2, sofa.C == 3, count > 0, frames > 0, !overflow, size <= Self.limit / 2,
      Int(sofa.DataIR.elements) == size * ears, let values = sofa.DataIR.values,
      Int(sofa.SourcePosition.elements) == count * 3, let sources = sofa.SourcePosition.values,
      sofa.DataSamplingRate.elements > 0, let rate = sofa.DataSamplingRate.values?[0], rate >= 8000,
      rate <= 400_000
    else {
      throw DesignError(
        "\(path) does not hold impulse responses of two ears with one position each; use another SOFA file")
    }
    guard (0..<size * ears).allSatisfy({ values[$0].isFinite }),
      (0..<count * 3).allSatisfy({ sources[$0].isFinite })
    else { throw DesignError("\(path) holds values that are not numbers; use another SOFA file") }
    sampleRate = Double(rate)
    self.frames = frames
    responses = (0..<size * ears).map { Double(values[$0]) }
    elevations = (0..<count).map { Double(sources[3 * $0 + 1]) }
    directions = (0..<count).map {
      sphericalUnit(
        azimuth: .degrees(Double(sources[3 * $0])), elevation: .degrees(Double(sources[3 * $0 + 1])))
    }
  }
}
