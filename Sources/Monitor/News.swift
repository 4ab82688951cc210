import Messages
import Settings

/// What is heard from a Pinna. A value; any thread.
package enum News: Sendable {
  case levels(StatusFields.Levels)
  case status(StatusReport)
  case inputs(InputsReport)
  case presets([String])
  /// Nil if the library has no such device.
  case picture(Picture?, device: String)
  /// No Pinna is there, or it does not answer.
  case unreachable(Failure)
  case outcome(Row, Outcome)
}
