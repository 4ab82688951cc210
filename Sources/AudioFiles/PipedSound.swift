import CFiles
import Glibc

/// A WAV file that arrives through a pipe. It is read once, from its beginning to its end, whatever length its header
/// says: a program that writes into a pipe knows none.
///
/// libsndfile reads a header of the same sample format in front of sound without an end; `read` ends it.
final class PipedSound: ReadDescriptor {
  static let name = "standard input"
  /// What precedes the sound may be this long.
  private static let longestHead = 1 << 20

  let header: SoundHeader
  /// Of the broadcast extension; empty without one.
  let description: String
  /// Whether what precedes the sound says in words that the channels are B-format.
  let isNamedAmbisonics: Bool
  /// Bytes of all samples of one frame.
  private let frameBytes: Int
  /// What libsndfile reads first: the header, and the beginning of the sound once it is there. After a look at that,
  /// libsndfile goes back.
  private var head: [UInt8]
  private let headerBytes: Int
  private static let longestLook = 64
  /// Where libsndfile reads.
  private var place = 0
  /// Bytes of the sound that were read.
  private var soundBytes = 0
  /// Bytes that were taken from the pipe too early.
  private var pending: [UInt8] = []
  /// Where the sound may end before the pipe does; nil for nowhere.
  private var nextEnd: Int?
  private var hasEnded = false
  private let isWanted: () -> Bool

  /// Reads to where the sound begins.
  /// - Parameter isWanted: asked while the pipe is empty. If it returns false, reading fails.
  init(_ number: Int32, while isWanted: @escaping () -> Bool) throws(AudioFileError) {
    self.isWanted = isWanted
    let pipe = try Head(number, while: isWanted)
    guard let header = Self.header(pipe.bytes) else {
      throw AudioFileError("cannot read \(Self.name): its header makes no sense; give a WAV file")
    }
    self.header = header
    description = String(decoding: pipe.broadcast.prefix(256).prefix { $0 != 0 }, as: UTF8.self)
    isNamedAmbisonics = AmbisonicFormat.isNamed(inText: String(decoding: pipe.bytes, as: UTF8.self))
    frameBytes = pipe.frameBytes
    head = Self.header(format: pipe.format)
    headerBytes = head.count
    super.init(number)
    if case .bytes(let bytes) = header.stated { nextEnd = bytes }
  }

  /// The header of a file that was not closed, which libsndfile reads to its end.
  private static func header(format: [UInt8]) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    return Array("RIFF".utf8) + number(8) + Array("WAVEfmt ".utf8) + number(format.count) + format
      + [UInt8](repeating: 0, count: format.count % 2) + Array("data".utf8) + number(0)
  }

  private static func header(_ bytes: [UInt8]) -> SoundHeader? {
    let file = pinna_memory_file()
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { return nil }
    return SoundHeader(file, size: bytes.count)
  }

  // MARK: For libsndfile

  /// Standard input stays open.
  override func release() {}

  override var length: Int { 1 << 60 }
  override var position: Int { place }

  override func seek(_ offset: Int, _ whence: Int32) -> Int {
    place = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? place : length)
    return place
  }

  override func read(_ bytes: UnsafeMutableRawPointer, _ wanted: Int) -> Int {
    var done = 0
    if place < head.count {
      done = min(wanted, head.count - place)
      head[place..<place + done].withUnsafeBytes { bytes.copyMemory(from: $0.baseAddress!, byteCount: done) }
      place += done
    }
    while done < wanted, place == headerBytes + soundBytes, !hasEnded {
      if soundBytes == nextEnd, soundEnds() {
        drain()
        break
      }
      let got = take(bytes + done, min(wanted - done, (nextEnd ?? .max) - soundBytes))
      if got == 0 { hasEnded = true }
      if soundBytes < Self.longestLook {
        head += UnsafeRawBufferPointer(start: bytes + done, count: min(got, Self.longestLook - soundBytes))
      }
      done += got
      place += got
      soundBytes += got
    }
    return done
  }

  /// At the end that the header states: whether the pipe ends there, or goes on with another chunk. A length past 4 GB
  /// wraps.
  private func soundEnds() -> Bool {
    var next = [UInt8](repeating: 0, count: 5)
    var count = 0
    while count < next.count {
      let got = next.withUnsafeMutableBytes { take($0.baseAddress! + count, $0.count - count) }
      if got == 0 { break }
      count += got
    }
    pending = Array(next[..<count]) + pending
    // Less than one sample is not sound, either.
    if count < 2 || Chunks.isKnown(pending) || Chunks.isKnown(pending.dropFirst(soundBytes % 2)) {
      return true
    }
    nextEnd = soundBytes + 1 << 32
    return false
  }

  /// Reads what is left: the program that writes it is not to fail.
  private func drain() {
    hasEnded = true
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while block.withUnsafeMutableBytes({ take($0.baseAddress!, $0.count) }) > 0 {}
  }

  /// - Returns: the number of bytes; 0 at the end and after an error.
  private func take(_ bytes: UnsafeMutableRawPointer, _ wanted: Int) -> Int {
    guard pending.isEmpty else {
      let count = min(wanted, pending.count)
      pending.withUnsafeBytes { bytes.copyMemory(from: $0.baseAddress!, byteCount: count) }
      pending.removeFirst(count)
      return count
    }
    let got = readPipe(number, bytes, wanted, while: isWanted)
    if got < 0 { error = errno }
    return max(0, got)
  }

  // MARK: Lengths

  /// Number of frames according to the header; nil if it says nothing.
  var statedFrames: Int? {
    guard case .bytes(let bytes) = header.stated, bytes > 0 else { return nil }
    return bytes / frameBytes
  }

  /// What differs from the header, or from whole frames, when all was read, as one sentence.
  /// - Parameter frames: how many there are.
  func remark(frames: Int) -> String? {
    if case .bytes(let bytes) = header.stated, bytes > soundBytes {
      return "\(Self.name) ends early: its header says \(bytes / frameBytes) frames, and \(frames) are there"
    }
    if soundBytes % frameBytes > 0 {
      return "\(Self.name) ends within a frame; the \(frames) frames before it count"
    }
    guard let statedFrames, statedFrames < frames else { return nil }
    return
      "the header of \(Self.name) says \(statedFrames) frames, but \(frames) are there; all of them count"
  }
}

extension PipedSound {
  /// What precedes the sound.
  fileprivate struct Head {
    private(set) var bytes: [UInt8] = []
    /// The content of the chunk "fmt ".
    private(set) var format: [UInt8] = []
    /// The content of the chunk "bext".
    private(set) var broadcast: [UInt8] = []
    /// Bytes of all samples of one frame.
    var frameBytes: Int { number(12) }

    /// Reads to the beginning of the sound.
    init(_ pipe: Int32, while isWanted: () -> Bool) throws(AudioFileError) {
      let name = PipedSound.name
      let start = try next(12, of: pipe, while: isWanted)
      guard ["RIFF", "RF64", "BW64"].contains(String(decoding: start[..<4], as: UTF8.self)),
        start[8...].elementsEqual("WAVE".utf8)
      else { throw AudioFileError("\(name) is no WAV file; convert it with: ffmpeg -i FILE -f wav -") }
      while true {
        let head = try next(8, of: pipe, while: isWanted)
        let length = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
        if head.starts(with: "data".utf8) { break }
        guard bytes.count + length <= PipedSound.longestHead else {
          throw AudioFileError("cannot read \(name): its header is too long; give a WAV file")
        }
        let content = try next(length + length % 2, of: pipe, while: isWanted)[..<length]
        if head.starts(with: "fmt ".utf8) { format = Array(content) }
        if head.starts(with: "bext".utf8) { broadcast = Array(content) }
      }
      // An extensible format has the true one at the beginning of its sub-format.
      let isExtensible = format.count >= 26 && number(0) == 0xFFFE
      // Integers, floats, A-law and µ-law: one size for all samples.
      guard format.count >= 16, [1, 3, 6, 7].contains(number(isExtensible ? 24 : 0)), frameBytes > 0 else {
        throw AudioFileError(
          "cannot read \(name): its samples are compressed; convert it with: ffmpeg -i FILE -f wav -")
      }
    }

    private func number(_ at: Int) -> Int { Int(format[at]) | Int(format[at + 1]) << 8 }

    private mutating func next(_ count: Int, of pipe: Int32, while isWanted: () -> Bool)
      throws(AudioFileError) -> [UInt8]
    {
      var block = [UInt8](repeating: 0, count: count)
      var done = 0
      while done < count {
        let got = block.withUnsafeMutableBytes {
          readPipe(pipe, $0.baseAddress! + done, count - done, while: isWanted)
        }
        if got < 0 {
          throw AudioFileError("cannot read \(PipedSound.name): \(String(cString: strerror(errno)))")
        }
        if got == 0 {
          let fault = bytes.isEmpty && done == 0 ? "is empty" : "ends within its header"
          throw AudioFileError("\(PipedSound.name) \(fault); check the program that writes into it")
        }
        done += got
      }
      bytes += block
      return block
    }
  }
}

/// - Parameter isWanted: asked five times a second while there is nothing to read. If it returns false, reading ends
///   with `ECANCELED`.
/// - Returns: the number of bytes, 0 at the end; negative with `errno`.
private func readPipe(
  _ number: Int32, _ bytes: UnsafeMutableRawPointer, _ wanted: Int, while isWanted: () -> Bool
) -> Int {
  while true {
    var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    if poll(&request, 1, 200) > 0 {
      let got = read(number, bytes, wanted)
      if got >= 0 || ![EINTR, EAGAIN].contains(errno) { return got }
    }
    guard isWanted() else {
      errno = ECANCELED
      return -1
    }
  }
}
