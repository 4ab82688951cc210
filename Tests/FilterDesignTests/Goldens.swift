import Foundation

/// Results of `Tests/Golden/filter-design.py` with the numpy oracle; the command is in that file.
struct Goldens: Decodable {
  struct Stereo: Decodable, CustomStringConvertible, Sendable {
    let device: String
    let dataSource: String
    let inputOrientation: String
    let separation: Double
    let frontBack: Double
    let timeDifferenceError: Double
    let timeDifferenceLeft: Double
    let levelDifferenceErrorHigh: Double
    let levelDifferenceErrorLow: Double
    var description: String { "\(device) \(dataSource) \(inputOrientation)" }
  }
  struct Sphere: Decodable {
    let frequencies: [Double]
    let angles: [Double]
    /// Shape `[frequency][angle]`.
    let real: [[Double]]
    let imaginary: [[Double]]
  }
  struct Ears: Decodable {
    let frequencies: [Double]
    let azimuths: [Double]
    let elevations: [Double]
    /// Shape `[frequency][direction][ear]`.
    let real: [[[Double]]]
    let imaginary: [[[Double]]]
  }
  struct Mono: Decodable, CustomStringConvertible, Sendable {
    let device: String
    let polarPattern: String
    let octaves: [Double]
    let directivityIndex: [Double]
    let frontBack: [Double]
    var description: String { "\(device) \(polarPattern)" }
  }

  let stereo: [Stereo]
  let sphere: Sphere
  let hrtf: Ears
  let mono: [Mono]

  static let all: Goldens = {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let data = try! Data(contentsOf: tests.appendingPathComponent("Golden/filter-design.json"))
    return try! JSONDecoder().decode(Goldens.self, from: data)
  }()
}
