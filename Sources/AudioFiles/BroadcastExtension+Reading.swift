import CSndfile
import Glibc

extension BroadcastExtension {
  /// The description in the sound file at `path`; nil without a broadcast extension.
  public static func description(at path: String) -> String? {
    // Opening a FIFO without a writer would never return.
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else { return nil }
    defer { sf_close(file) }
    var broadcast = SF_BROADCAST_INFO()
    let size = Int32(MemoryLayout<SF_BROADCAST_INFO>.size)
    guard sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &broadcast, size) == SF_TRUE else { return nil }
    return withUnsafeBytes(of: &broadcast.description) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
