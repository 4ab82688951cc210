/// Filters could not be designed, read or written. One sentence says what failed, on what, and what to do.
public struct DesignError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
