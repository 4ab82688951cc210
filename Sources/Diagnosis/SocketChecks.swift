import FoundationEssentials
import Glibc

extension Finding {
  /// The folder of the control sockets.
  /// - Parameters:
  ///   - folder: of Pinna's sockets.
  ///   - fault: why `pinna run` would refuse it, with what to do; nil if it would not.
  public static func sockets(in folder: String, fault: String?) -> Finding {
    let subject = "control sockets"
    if let fault {
      return .fault(
        subject, fault, because: "Pinna puts no socket where others could take its place",
        remedy: "rm -r \(folder), or what the sentence says")
    }
    let sockets = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
      $0.hasSuffix(".sock")
    }
    let left = sockets.filter { isFree("\(folder)/\($0).lock") }.sorted()
    guard left.isEmpty else {
      return .warning(
        subject, "\(left.joined(separator: ", ")) in \(folder) is left of a Pinna that was killed",
        because: "harmless, as the next one of that name takes it over, but nothing answers there",
        remedy: "rm \(left.map { "\(folder)/\($0)" }.joined(separator: " "))")
    }
    guard !sockets.isEmpty else { return .ok(subject, "no Pinna is running (\(folder))") }
    return .ok(subject, "\(sockets.count) running (\(folder))")
  }

  /// The clients of a running Pinna that other programs have removed.
  public static func removals(_ clients: Int, of most: Int) -> Finding {
    .warning(
      "running Pinna",
      "other programs removed it from PipeWire's graph \(clients == 1 ? "once" : "\(clients) times")",
      because:
        "each time its sound stops for a moment, and libjack keeps memory; after \(most) times Pinna gives up",
      remedy:
        "find out which program does that (pw-cli destroy, a session manager's script); start Pinna again")
  }

  /// Whether no process holds the lock file beside a socket.
  private static func isFree(_ lock: String) -> Bool {
    let file = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return errno == ENOENT }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) == 0
  }
}
