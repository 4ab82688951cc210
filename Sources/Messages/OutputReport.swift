import Acoustics
import Settings

/// The destination of the outputs, as reported by `status`.
package struct OutputReport: Codable, Sendable {
  package var choice = OutputChoice.standard
  /// Speaker or headphones; null if Pinna connected the outputs to nothing.
  package var portType: PortType?
  package var ports: [String] = []

  package init() {}
}
