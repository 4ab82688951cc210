/// Why filters could not be designed, read or written: one sentence with what, where and what to do.
public struct DesignError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
