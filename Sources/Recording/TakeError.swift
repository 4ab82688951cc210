/// Why a take could not start, or why it is incomplete: one sentence. A value; any thread.
public struct TakeError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
