import CSndfile
import Glibc

extension BroadcastExtension {
  /// The extension in the sound file at `path`; nil without one.
  public static func read(at path: String) -> BroadcastExtension? {
    // Opening a FIFO without a writer would never return.
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    if let comments = VorbisComments(descriptor) { return BroadcastExtension(comments) }
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else { return nil }
    defer { sf_close(file) }
    return BroadcastExtension(of: file)
  }

  /// The same in the comments of FLAC and Opus, as `SoundLabels` writes them.
  init?(_ comments: VorbisComments) {
    guard let description = comments["DESCRIPTION"] else { return nil }
    self.init(
      description: description, date: comments["DATE"] ?? "", time: comments["CREATION_TIME"] ?? "",
      timeReference: comments["TIME_REFERENCE"].flatMap { Int($0) } ?? 0,
      originator: comments["ENCODED_BY"] ?? "")
  }

  /// The description in the sound file at `path`; nil without a broadcast extension.
  public static func description(at path: String) -> String? { read(at: path)?.description }

  /// Of a file that libsndfile has open; nil if it has none.
  init?(of file: OpaquePointer) {
    var info = SF_BROADCAST_INFO()
    let size = Int32(MemoryLayout<SF_BROADCAST_INFO>.size)
    guard sf_command(file, Int32(SFC_GET_BROADCAST_INFO), &info, size) == SF_TRUE else { return nil }
    func text<Field>(_ field: Field) -> String {
      withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    let reference = UInt64(info.time_reference_high) << 32 | UInt64(info.time_reference_low)
    self.init(
      description: text(info.description), date: text(info.origination_date),
      time: text(info.origination_time),
      timeReference: Int(exactly: reference) ?? 0, originator: text(info.originator))
  }
}
