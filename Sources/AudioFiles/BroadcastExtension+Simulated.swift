import CSndfile
import Glibc

/// `pinna simulate` marks its files, so that what is measured in them is not taken for the real array.
extension BroadcastExtension {
  private static let mark = "simulated by pinna: "

  /// The mark of a simulated scene.
  public static func simulated(_ title: String) -> BroadcastExtension {
    BroadcastExtension(description: mark + title, date: "", time: "", timeReference: 0)
  }

  /// The title of the scene in the sound file at `path`; nil if that is not marked as simulated.
  public static func simulatedScene(at path: String) -> String? {
    // Opening a FIFO without a writer would never return.
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else { return nil }
    defer { sf_close(file) }
    var broadcast = SF_BROADCAST_INFO()
    let size = Int32(MemoryLayout<SF_BROADCAST_INFO>.size)
    guard sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &broadcast, size) == SF_TRUE else { return nil }
    let text = withUnsafeBytes(of: &broadcast.description) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return simulatedScene(described: text)
  }

  /// - Parameter description: of the broadcast extension.
  static func simulatedScene(described description: String) -> String? {
    description.hasPrefix(mark) ? String(description.dropFirst(mark.count)) : nil
  }
}
