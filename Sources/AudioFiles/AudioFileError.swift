/// An error with an audio file: one sentence that names the file.
public struct AudioFileError: Error, Hashable, CustomStringConvertible {
  public let description: String
  /// The reason, without the file's name.
  public let reason: String

  /// - Parameter reason: nil if it is the whole sentence.
  public init(_ description: String, reason: String? = nil) {
    self.description = description
    self.reason = reason ?? description
  }
}
