import Acoustics
import Foundation

/// Responses of microphones on a box, computed by others; the commands are in `Tests/Golden/box.py` and
/// `Tests/Golden/bempp.py`.
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

  /// By the numpy oracle.
  package static let all = load("box.json")
  /// By bempp-cl, a published library with another formulation.
  package static let independent = load("bempp.json")

  private static func load(_ file: String) -> [BoxGolden] {
    let data = try! Data(contentsOf: URL(fileURLWithPath: repositoryFolder + "/Tests/Golden/" + file))
    return try! JSONDecoder().decode([BoxGolden].self, from: data)
  }
}
