/// What went wrong with an audio file, as one sentence that names the file.
public struct AudioFileError: Error, Hashable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
