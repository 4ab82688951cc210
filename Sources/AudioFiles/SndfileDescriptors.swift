import CSndfile
import Glibc

/// A descriptor from which libsndfile reads. It must outlive the file that libsndfile opens; the caller releases it.
class ReadDescriptor {
  let number: Int32
  /// What is read in place of the file's own bytes; see `SoundHeader`.
  private let patches: [(offset: Int, bytes: [UInt8])]
  /// Where the file ends; nil for its own end.
  private let end: Int?
  /// The error number of the last read that failed; 0 if none did. libsndfile takes a failed read for the end of the
  /// file.
  var error: Int32 = 0

  init(_ number: Int32, header: SoundHeader? = nil) {
    self.number = number
    (patches, end) = (header?.patches ?? [], header?.end)
  }

  /// Closes it.
  func release() { close(number) }

  var length: Int {
    var information = stat()
    guard fstat(number, &information) == 0 else { return -1 }
    return min(Int(information.st_size), end ?? .max)
  }

  var position: Int { Int(lseek(number, 0, SEEK_CUR)) }

  func seek(_ offset: Int, _ whence: Int32) -> Int {
    whence == SEEK_END
      ? Int(lseek(number, off_t(length + offset), SEEK_SET)) : Int(lseek(number, off_t(offset), whence))
  }

  func read(_ bytes: UnsafeMutableRawPointer, _ wanted: Int) -> Int {
    let start = position
    let count = end.map { min(wanted, max(0, $0 - start)) } ?? wanted
    var done = 0
    while done < count {
      let got = Glibc.read(number, bytes + done, count - done)
      if got > 0 {
        done += got
      } else if got == 0 || errno != EINTR {
        if got < 0 { error = errno }
        break
      }
    }
    for (offset, patch) in patches {
      for (n, byte) in patch.enumerated() where (start..<start + done).contains(offset + n) {
        bytes.storeBytes(of: byte, toByteOffset: offset + n - start, as: UInt8.self)
      }
    }
    return done
  }
}

/// Opens a descriptor for reading through libsndfile.
///
/// `sf_open_fd` is not used because it closes the descriptor when it fails, even if told not to (libsndfile 1.2.0). A
/// second close could then hit a file that another thread has opened since.
/// - Returns: nil if libsndfile cannot read the file.
func openForReading(_ descriptor: ReadDescriptor, _ info: inout SF_INFO) -> OpaquePointer? {
  var calls = SF_VIRTUAL_IO(
    get_filelen: { user in sf_count_t(readDescriptor(user).length) },
    seek: { offset, whence, user in sf_count_t(readDescriptor(user).seek(Int(offset), whence)) },
    read: { bytes, count, user in sf_count_t(readDescriptor(user).read(bytes!, Int(count))) },
    write: { _, _, _ in 0 },
    tell: { user in sf_count_t(readDescriptor(user).position) })
  return sf_open_virtual(&calls, Int32(SFM_READ), &info, Unmanaged.passUnretained(descriptor).toOpaque())
}

/// Opens the descriptor of an empty file for writing through libsndfile.
///
/// The caller always closes the descriptor. libsndfile gets a duplicate, which it closes even if it fails.
/// - Parameters:
///   - mode: `SFM_WRITE` or `SFM_RDWR`.
///   - format: libsndfile's container and encoding.
/// - Throws: the reason alone.
package func openForWriting(
  _ descriptor: Int32, mode: Int, channels: Int, sampleRate: Int, format: Int
) throws(AudioFileError) -> OpaquePointer {
  var info = SF_INFO(
    frames: 0, samplerate: Int32(sampleRate), channels: Int32(channels), format: Int32(format), sections: 0,
    seekable: 0)
  let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
  guard duplicate >= 0 else { throw AudioFileError(String(cString: strerror(errno))) }
  guard let file = sf_open_fd(duplicate, Int32(mode), &info, Int32(SF_TRUE)) else {
    throw AudioFileError(AudioFileReader.lastError(nil))
  }
  return file
}

private func readDescriptor(_ user: UnsafeMutableRawPointer?) -> ReadDescriptor {
  Unmanaged<ReadDescriptor>.fromOpaque(user!).takeUnretainedValue()
}
