import Foundation

/// A file system whose server never answers, mounted over a folder: every access there waits until `release`.
public final class DeadMount {
  /// Whether this process may mount one.
  public static let isPossible = getuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

  private let folder: String
  private let server: Int32
  private var isReleased = false

  public init(over folder: String) throws {
    self.folder = folder
    server = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    // MS_NOSUID and MS_NODEV. The server of this mount would answer at the descriptor, but nobody does.
    let options = "fd=\(server),rootmode=40000,user_id=0,group_id=0,allow_other"
    guard server >= 0, mount("dead", folder, "fuse", 2 | 4, options) == 0 else {
      throw SupportError("cannot mount over \(folder): \(String(cString: strerror(errno)))")
    }
  }

  deinit { release() }

  /// Lets every waiting access fail and restores the folder.
  public func release() {
    if isReleased { return }
    isReleased = true
    close(server)
    umount2(folder, Int32(MNT_DETACH))
  }
}
