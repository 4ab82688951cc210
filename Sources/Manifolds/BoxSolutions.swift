import Acoustics
import AudioFiles
import FoundationEssentials
import Glibc
import Measurements

/// A folder of solved boxes, one file each. Solving a box takes seconds to minutes, reading one some milliseconds.
///
/// Users may delete the folder at any time. A file that is broken, or that another version wrote, is solved again. A file
/// is complete when it gets its name, so that several programs can share the folder. Beyond `sizeLimit` the files that
/// were not used for longest are removed.
package struct BoxSolutions: Sendable {
  /// Increment it with every change of method that changes the weights of a box whose parameters stay the same.
  private static let version = 4
  /// Of all files together, in bytes. A phone with five microphones takes 17 MB.
  package static let sizeLimit = 256 << 20
  private static let fileExtension = ".box"

  package let folder: String
  private let sizeLimit: Int

  package init(folder: String, sizeLimit: Int = BoxSolutions.sizeLimit) {
    self.folder = folder
    self.sizeLimit = sizeLimit
  }

  /// Everything that the weights depend on, as one line of text. Equal keys mean equal weights, to the bit: libraries of
  /// linear algebra compute in another order on another processor.
  package static func key(
    positions: [Position], size: SIMD3<Double>, parameters: DesignParameters.Box
  ) -> String {
    func text(_ vector: SIMD3<Double>) -> String { "\(vector.x) \(vector.y) \(vector.z)" }
    let fields = Mirror(reflecting: parameters).children.map { "\($0.label ?? "") \($0.value)" }
    return
      (["version \(version)", "processor \(processor)", "sound \(speedOfSound)", "box \(text(size))"] + fields
      + positions.map { "microphone \(text($0))" }).joined(separator: "; ")
  }

  /// The model of this machine's processor, and the kernels that its user selected.
  private static let processor: String = {
    let cores = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = cores.split(separator: "\n").first { $0.hasPrefix("model name") }
    let kernels = ProcessInfo.processInfo.environment["OPENBLAS_CORETYPE"] ?? ""
    return "\(model?.split(separator: ":").last ?? "unknown") \(kernels)"
  }()

  /// The weights stored under `key`; nil if there are none, or the file is broken.
  func weights(key: String) -> [[Double]]? {
    let path = path(ofKey: key)
    guard let bytes = try? InputFile(path: path, kind: "a solved box").bytes(),
      let weights = Self.decode(bytes, key: key)
    else { return nil }
    StoredFiles.use(path)
    return weights
  }

  /// Stores `weights`, and removes what exceeds the limit. Errors are ignored: the box is then solved each time.
  func store(_ weights: [[Double]], key: String) {
    let files = FileManager.default
    let path = path(ofKey: key)
    let scratch = "\(path).\(UUID().uuidString).part"
    do {
      try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Self.encode(weights, key: key).write(to: URL(filePath: scratch))
      if rename(scratch, path) != 0 { unlink(scratch) }
    } catch { unlink(scratch) }
    removeExcess()
  }

  private func path(ofKey key: String) -> String {
    var hash = ContentHash()
    hash.add(key.utf8)
    return "\(folder)/\(hash.digits)\(Self.fileExtension)"
  }

  /// Removes what exceeds the limit, and what programs that were killed left behind an hour ago.
  private func removeExcess() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let path = "\(folder)/\(name)"
      var status = stat()
      if name.contains(Self.fileExtension + "."), lstat(path, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG, time(nil) - status.st_mtim.tv_sec > 3600
      {
        unlink(path)
      }
    }
    StoredFiles.removeExcess(in: folder, endings: [Self.fileExtension], limit: sizeLimit)
  }
}

/// The format of a file, little-endian: a hash of what follows (16 digits), the key and its length, the number of rows, and
/// each row and its length.
extension BoxSolutions {
  static func encode(_ weights: [[Double]], key: String) -> Data {
    var content = Data()
    func append(_ number: Int) {
      withUnsafeBytes(of: UInt64(number).littleEndian) { content.append(contentsOf: $0) }
    }
    append(key.utf8.count)
    content.append(contentsOf: key.utf8)
    append(weights.count)
    for row in weights {
      append(row.count)
      row.withUnsafeBytes { content.append(contentsOf: $0) }
    }
    var hash = ContentHash()
    content.withUnsafeBytes { hash.add($0) }
    return Data(hash.digits.utf8) + content
  }

  /// The weights in a file's bytes; nil if they are not as written, or have another key.
  static func decode(_ bytes: [UInt8], key: String) -> [[Double]]? {
    guard bytes.count > 16 else { return nil }
    var hash = ContentHash()
    bytes.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[16...])) }
    guard Array(hash.digits.utf8) == Array(bytes[..<16]) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var offset = 16
      /// A length, of which so many units of `width` bytes follow.
      func length(_ width: Int) -> Int? {
        guard offset + 8 <= bytes.count else { return nil }
        let value = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
        guard let count = Int(exactly: value), count <= (bytes.count - offset) / width else { return nil }
        return count
      }
      guard let keyLength = length(1), bytes[offset..<offset + keyLength].elementsEqual(key.utf8) else {
        return nil
      }
      offset += keyLength
      guard let rows = length(8) else { return nil }
      var weights: [[Double]] = []
      for _ in 0..<rows {
        guard let count = length(8) else { return nil }
        weights.append(
          [Double](unsafeUninitializedCapacity: count) { row, written in
            UnsafeMutableRawBufferPointer(row).copyMemory(
              from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 8 * count]))
            written = count
          })
        offset += 8 * count
      }
      return offset == bytes.count ? weights : nil
    }
  }
}
