import Acoustics
import Foundation

/// Responses of microphones on a box by the oracle's boundary elements; the command is in
/// `Tests/Golden/box.py`.
package struct BoxGolden: Decodable, CustomStringConvertible, Sendable {
  package let name: String
  package let size: SIMD3<Double>
  package let microphones: [Position]
  /// In hertz.
  package let frequencies: [Double]
  package let directions: [SIMD3<Double>]
  /// Shape `[frequency][microphone][direction]`, relative to the free field at the origin.
  package let real: [[[Double]]]
  package let imaginary: [[[Double]]]
  package var description: String { name }

  package static func named(_ name: String) -> BoxGolden { all.first { $0.name == name }! }

  package static let all: [BoxGolden] = {
    let data = try! Data(contentsOf: URL(fileURLWithPath: repositoryFolder + "/Tests/Golden/box.json"))
    return try! JSONDecoder().decode([BoxGolden].self, from: data)
  }()
}
