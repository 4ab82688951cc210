import AudioFiles
import Numerics

extension InputFile {
  /// Opens a file of a measurement. As `init`, with the error that designs have.
  static func measurement(_ path: String, kind: String, sizeLimit: Int = InputFile.sizeLimit)
    throws(DesignError)
    -> InputFile
  {
    do throws(AudioFileError) {
      return try InputFile(path: path, kind: kind, sizeLimit: sizeLimit)
    } catch { throw DesignError(error.description) }
  }
}
