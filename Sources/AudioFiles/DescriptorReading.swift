import CSndfile
import Glibc

/// Opens what a descriptor refers to for reading; nil where libsndfile knows no such file.
///
/// The descriptor stays the caller's to close, whatever comes of it: `sf_open_fd` closes it where it fails, also where it
/// is told not to (libsndfile 1.2.0), and a second close may meet a file that another thread has opened since.
/// - Parameter descriptor: it must stay open longer than the file.
func openForReading(_ descriptor: Int32, _ info: inout SF_INFO) -> OpaquePointer? {
  var calls = SF_VIRTUAL_IO(
    get_filelen: { user in
      var information = stat()
      return fstat(number(user), &information) == 0 ? sf_count_t(information.st_size) : -1
    },
    seek: { offset, whence, user in sf_count_t(lseek(number(user), off_t(offset), whence)) },
    read: { bytes, count, user in
      var done = 0
      while done < count {
        let got = Glibc.read(number(user), bytes! + done, Int(count) - done)
        if got > 0 { done += got } else if got == 0 || errno != EINTR { break }
      }
      return sf_count_t(done)
    },
    write: { _, _, _ in 0 },
    tell: { user in sf_count_t(lseek(number(user), 0, SEEK_CUR)) })
  // The descriptor itself, in a pointer's place.
  return sf_open_virtual(&calls, Int32(SFM_READ), &info, UnsafeMutableRawPointer(bitPattern: Int(descriptor)))
}

private func number(_ user: UnsafeMutableRawPointer?) -> Int32 { Int32(Int(bitPattern: user)) }
