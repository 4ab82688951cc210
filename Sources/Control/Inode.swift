import Glibc

/// Which file a path or a descriptor leads to.
struct Inode: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// The inode at `path`; nil if nothing exists there.
  init?(path: String) {
    var file = stat()
    guard lstat(path, &file) == 0 else { return nil }
    (device, number) = (file.st_dev, file.st_ino)
  }

  init?(descriptor: Int32) {
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { return nil }
    (device, number) = (file.st_dev, file.st_ino)
  }
}
