import CSndfile
import Glibc

/// A descriptor from which libsndfile reads. It must outlive the file that libsndfile opens; the caller closes it.
final class ReadDescriptor {
  let number: Int32
  /// The error number of the last read that failed; 0 if none did. libsndfile takes a failed read for the end of the file.
  fileprivate(set) var error: Int32 = 0

  init(_ number: Int32) { self.number = number }
}

/// Opens a descriptor for reading through libsndfile.
///
/// `sf_open_fd` is not used because it closes the descriptor when it fails, even if told not to (libsndfile 1.2.0). A
/// second close could then hit a file that another thread has opened since.
/// - Returns: nil if libsndfile cannot read the file.
func openForReading(_ descriptor: ReadDescriptor, _ info: inout SF_INFO) -> OpaquePointer? {
  var calls = SF_VIRTUAL_IO(
    get_filelen: { user in
      var information = stat()
      return fstat(readDescriptor(user).number, &information) == 0 ? sf_count_t(information.st_size) : -1
    },
    seek: { offset, whence, user in sf_count_t(lseek(readDescriptor(user).number, off_t(offset), whence)) },
    read: { bytes, count, user in
      let descriptor = readDescriptor(user)
      var done = 0
      while done < count {
        let got = Glibc.read(descriptor.number, bytes! + done, Int(count) - done)
        if got > 0 {
          done += got
        } else if got == 0 || errno != EINTR {
          if got < 0 { descriptor.error = errno }
          break
        }
      }
      return sf_count_t(done)
    },
    write: { _, _, _ in 0 },
    tell: { user in sf_count_t(lseek(readDescriptor(user).number, 0, SEEK_CUR)) })
  return sf_open_virtual(&calls, Int32(SFM_READ), &info, Unmanaged.passUnretained(descriptor).toOpaque())
}

/// Opens the descriptor of an empty file for writing through libsndfile.
///
/// The caller always closes the descriptor. libsndfile gets a duplicate, which it closes even if it fails.
/// - Parameters:
///   - mode: `SFM_WRITE` or `SFM_RDWR`.
///   - format: libsndfile's container and encoding.
/// - Returns: nil on failure.
package func openForWriting(
  _ descriptor: Int32, mode: Int, channels: Int, sampleRate: Int, format: Int
) -> OpaquePointer? {
  var info = SF_INFO(
    frames: 0, samplerate: Int32(sampleRate), channels: Int32(channels), format: Int32(format), sections: 0,
    seekable: 0)
  let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
  guard duplicate >= 0 else { return nil }
  return sf_open_fd(duplicate, Int32(mode), &info, Int32(SF_TRUE))
}

private func readDescriptor(_ user: UnsafeMutableRawPointer?) -> ReadDescriptor {
  Unmanaged<ReadDescriptor>.fromOpaque(user!).takeUnretainedValue()
}
