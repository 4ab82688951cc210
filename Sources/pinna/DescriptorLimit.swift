import Glibc

/// How many files and sockets the system lets a process open.
enum DescriptorLimit {
  /// A run has some 30 open, and a take and requests add to them. Below that, libraries end the process.
  private static let least: rlim_t = 64

  /// Says what to do where it is too few.
  static var isMet: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < least else {
      return true
    }
    Tool.complain(
      "this process may open only \(limit.rlim_cur) files, and Pinna needs \(least); run: ulimit -n 1024")
    return false
  }
}
