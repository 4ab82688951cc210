import FoundationEssentials
import Glibc
import Threads

/// Reads small text files of the system.
package enum SystemFile {
  /// 64 KiB; the files of a card have a few KiB.
  private static let sizeLimit = 64 << 10

  /// The text of a regular file without control characters except line breaks; nil if there is none, or if it is longer
  /// than 64 KiB. Never blocks on a FIFO or a device. Bytes that are not UTF-8 become U+FFFD.
  package static func text(_ path: String) -> String? {
    // Non-blocking: opening a FIFO that has no writer would block otherwise.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    // Files of /proc and /sys have no meaningful length: how much can be read decides.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    guard let bytes = Descriptor.readAll(descriptor, limit: sizeLimit + 1), bytes.count <= sizeLimit else {
      return nil
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0 == "\n" || $0 == "\t" || $0.properties.generalCategory != .control }))
  }

  /// The lines of `text(path)`; empty if there is none.
  static func lines(_ path: String) -> [Substring] { (text(path) ?? "").split(separator: "\n") }

  /// The names in a folder, sorted; empty if it cannot be read.
  package static func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }
}
