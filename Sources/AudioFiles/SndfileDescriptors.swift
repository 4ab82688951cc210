import CSndfile
import Glibc

/// Opens a descriptor for reading through libsndfile.
///
/// The caller always closes the descriptor. `sf_open_fd` is not used because it closes the descriptor when it fails,
/// even if told not to (libsndfile 1.2.0). A second close could then hit a file that another thread has opened since.
/// - Parameter descriptor: must stay open longer than the returned file.
/// - Returns: nil if libsndfile cannot read the file.
func openForReading(_ descriptor: Int32, _ info: inout SF_INFO) -> OpaquePointer? {
  var calls = SF_VIRTUAL_IO(
    get_filelen: { user in
      var information = stat()
      return fstat(fileDescriptor(user), &information) == 0 ? sf_count_t(information.st_size) : -1
    },
    seek: { offset, whence, user in sf_count_t(lseek(fileDescriptor(user), off_t(offset), whence)) },
    read: { bytes, count, user in
      var done = 0
      while done < count {
        let got = Glibc.read(fileDescriptor(user), bytes! + done, Int(count) - done)
        if got > 0 { done += got } else if got == 0 || errno != EINTR { break }
      }
      return sf_count_t(done)
    },
    write: { _, _, _ in 0 },
    tell: { user in sf_count_t(lseek(fileDescriptor(user), 0, SEEK_CUR)) })
  // The user pointer carries the descriptor itself.
  return sf_open_virtual(&calls, Int32(SFM_READ), &info, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
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

private func fileDescriptor(_ user: UnsafeMutableRawPointer?) -> Int32 { Int32(Int(bitPattern: user)) }
