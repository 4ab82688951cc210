import Glibc

/// The limit on open files and sockets of this process.
enum DescriptorLimit {
  /// `pinna run` has about 30 open; takes and requests add to them. When the limit is reached, libraries end the
  /// process.
  private static let minimum: rlim_t = 64

  /// Whether the limit is high enough. If not, prints what to do.
  static var isMet: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < minimum else {
      return true
    }
    Tool.complain(
      "this process may open only \(limit.rlim_cur) files, but Pinna needs \(minimum); run: ulimit -n 1024")
    return false
  }
}
