import Control
import Foundation

/// Fields of a status that a Pinna may not have yet. A value; any thread.
package struct Details: Decodable, Hashable, Sendable {
  package struct Take: Decodable, Hashable, Sendable {
    package let title: String?
    package let markers: Int?
  }
  /// The microphone that the outputs carry in place of the route; nil if they carry the route.
  package let listening: String?
  package let take: Take?
}

/// An answer to `/pinna/levels`. A value; any thread.
package struct Meters: Decodable, Sendable {
  package let microphones: [StatusReport.NamedLevel]
  package let outputs: [StatusReport.NamedLevel]
  /// Of the outputs, from −1 to 1; nil in silence, and from an older Pinna.
  package let correlation: Double?
}

/// What is heard from a Pinna. A value; any thread.
package enum News: Sendable {
  case meters(Meters)
  case status(StatusReport, Details)
  case inputs(InputsReport)
  case presets([String])
  case device(Picture?)
  /// No Pinna is there, or it does not answer.
  case unreachable(Failure)
  case outcome(Row, Outcome)
}
