/// The reason why a plot could not be drawn or written, as one sentence that names the file.
public struct PlotError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
