/// Why a take could not start or is incomplete, as one sentence.
public struct TakeError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
